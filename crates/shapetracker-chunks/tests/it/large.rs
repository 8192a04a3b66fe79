//! Arrays that no brute force reaches.
