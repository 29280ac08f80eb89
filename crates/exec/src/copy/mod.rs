//! COPY's text and CSV formats (compare copyfromparse.c and copyto.c): lines to fields, fields to lines. What is in the fields is the
//! types' business.

mod read;
mod write;

pub use read::LineReader;
pub use write::RowWriter;
