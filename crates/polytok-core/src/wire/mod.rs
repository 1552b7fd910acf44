//! Big columns of a file to vocabulary columns: pure functions of bytes, one file per format.
