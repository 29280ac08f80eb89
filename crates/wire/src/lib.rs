//! What bytes look like: frames, messages, startup, the row serializer, the buffered connection, COPY frames.
//!
//! No statement is known here and no socket is opened: bytes come from a `Read` and go to a `Write` that the server hands in.
//!
//! - [`frontend`]: decoding of what clients send, with PostgreSQL's protocol errors;
//! - [`backend`]: every message of the server as a function that appends to a buffer;
//! - [`describe`]: RowDescription and ParameterDescription, made once per prepared statement;
//! - [`serialize`]: rows to DataRow messages, the hot path;
//! - [`params`]: Bind's parameter values to SQL values;
//! - [`connection`]: the two buffers of a connection, and when they are read and flushed.

pub mod backend;
pub mod connection;
pub mod describe;
pub mod frontend;
pub mod params;
pub mod serialize;
