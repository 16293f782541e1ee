//! Nobody declares this file.
