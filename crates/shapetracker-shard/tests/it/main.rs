//! The oracle: brute force from the definitions, which shares no code with the library.
