//! What things are: SQL types, values, rows, keys, tables, indexes, names, settings, errors. Pure data, no I/O.
