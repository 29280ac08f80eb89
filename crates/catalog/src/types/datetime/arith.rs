//! The arithmetic behind PostgreSQL's date and time functions and operators.
