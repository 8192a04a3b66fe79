//! Nothing but the examples of the project's README, which are tested as documentation: no package that is published
//! can have them, because the README is outside of every package.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
