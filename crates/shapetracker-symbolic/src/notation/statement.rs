//! Statements over several layouts, as text: what a kernel computes in its innermost loop.

use std::ops::Range;
use std::sync::Arc;

use indexpr::why_no_name;
use shapetracker::Role;
use shapetracker_base::text::{ParseError, Token, Tokens, check_length, nearest, quoted};

use super::{Chain, Question};
use crate::poly::Poly;

/// A statement over several layouts, and the loops around it: what a kernel computes.
///
/// Its text has lines, or parts with `;` between them, of three sorts; `#` begins a comment.
///
/// | line | meaning |
/// |---|---|
/// | `A = (64, 16).T` | the layout of a buffer, as [`Question::chain`] reads it |
/// | `i = 0..n*64` | how often a loop runs, where no axis says it |
/// | `C[i, j] += A[i, k] * B[k, j] if k <= i` | the statement, of which there is one |
///
/// An index is an expression over loops and names, in the syntax of Python. What stands alone as the index of an axis
/// is a loop of the size of that axis. The loops are those of the left side in their order, and then, reduced, the
/// others in the order in which they appear. The right side is text of the language that is written, in which elements
/// and the names of loops are replaced. After `if` stands the condition under which the statement is run.
///
/// [`Statement::nest`] makes loops of it.
///
/// ```
/// use indexpr::Language;
/// use shapetracker_symbolic::Question;
///
/// let mut question = Question::new(["n=1..1025"])?;
/// let statement = question.statement("y[i] += A[i, k] * x[k]; A = (n, 64); x = (64,); y = (n,)")?;
/// let nest = statement.nest(&question.scope()?)?;
/// let code = nest.nest().code(Language::C, &nest.body(Language::C)?)?;
/// assert_eq!(
///     code,
///     "\
/// for (int i = 0; i < n; ++i) {
///     const int t0 = i * 64;
///     const int index_y = i;
///     for (int k = 0; k < 64; ++k) {
///         const int index_A = t0 + k;
///         const int index_x = k;
///         y[index_y] += A[index_A] * x[index_x];
///     }
/// }
/// ",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) text: Arc<str>,
    pub(crate) layouts: Vec<Layout>,
    pub(crate) sizes: Vec<LoopSize>,
    /// The element on the left.
    pub(crate) target: Element,
    /// One of [`OPERATORS`].
    pub(crate) operator: &'static str,
    /// What stands on the right, in its order.
    pub(crate) right: Vec<Piece>,
    /// Whether that is elements and numbers with `*` between them.
    pub(crate) is_product: bool,
    pub(crate) condition: Option<Range<usize>>,
    /// The bytes of the statement.
    pub(crate) span: Range<usize>,
}

/// The layout of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) name: Arc<str>,
    pub(crate) chain: Chain,
    /// Where the text of the chain begins.
    pub(crate) begin: usize,
}

/// How often a loop runs.
#[derive(Clone, Debug)]
pub(crate) struct LoopSize {
    pub(crate) name: Arc<str>,
    pub(crate) size: Poly,
    pub(crate) span: Range<usize>,
}

/// An element of a layout.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    /// The number of the layout.
    pub(crate) layout: usize,
    pub(crate) span: Range<usize>,
    /// The bytes of the index along each axis.
    pub(crate) axes: Vec<Range<usize>>,
}

/// A piece of the right side.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(Range<usize>),
    /// A name, which may be that of a loop.
    Name(Range<usize>),
    Element(Element),
}

/// How a statement writes.
pub(crate) const OPERATORS: [&str; 7] = ["=", "+=", "-=", "*=", "|=", "&=", "^="];

/// The words between numbers that are no names.
const INFIX: [&str; 3] = ["floordiv", "ceildiv", "mod"];

impl Question {
    /// Reads a statement over several layouts, and what is said of its loops: [`Statement`].
    ///
    /// ```
    /// use shapetracker_symbolic::Question;
    ///
    /// let err = Question::default().statement("C[i] = B[i]; C = (8,)").unwrap_err();
    /// assert_eq!(
    ///     err.to_string(),
    ///     "`B` has no layout: say one, such as `B = (64,)`\n\
    ///      \u{20} C[i] = B[i]; C = (8,)\n\
    ///      \u{20}        ^",
    /// );
    /// ```
    ///
    /// # Errors
    /// What cannot be read, at its place; two layouts or sizes of one name, an element of a buffer without a layout,
    /// and another number of statements than one.
    ///
    /// # Cost
    /// Linear in the text, and that of [`Question::chain`].
    pub fn statement(&mut self, text: &str) -> Result<Statement, ParseError> {
        check_length(text)?;
        // What is read of a part is at its place in the whole.
        self.statement_of(text).map_err(|err| err.in_longer(text, 0))
    }

    fn statement_of(&mut self, text: &str) -> Result<Statement, ParseError> {
        let (mut layouts, mut sizes, mut statements) = (Vec::<Layout>::new(), Vec::<LoopSize>::new(), Vec::new());
        for item in items(text) {
            let mut tokens = tokens(text, &item);
            match (tokens.token, tokens.second()) {
                (Token::End, _) => continue,
                (Token::Name, Token::Open(b'[')) => statements.push(item),
                (Token::Name, Token::Equals) => {
                    let (name, span) = (tokens.word(), tokens.span.clone());
                    if let Some(why) = why_no_name(name) {
                        return Err(tokens.error_at(span, format!("{} cannot be a name here: {why}", quoted(name))));
                    }
                    let known = layouts.iter().map(|layout| &layout.name).chain(sizes.iter().map(|size| &size.name));
                    if known.into_iter().any(|known| **known == *name) {
                        return Err(tokens.error_at(span, format!("{} is given twice", quoted(name))));
                    }
                    tokens.advance();
                    tokens.advance();
                    let begin = tokens.span.start;
                    let part = text[begin..item.end].trim_end();
                    let longer = |err: ParseError| err.in_longer(text, begin);
                    match range(part) {
                        Some(Ok(dots)) => {
                            let end = &part[dots.end..];
                            let size = self.number(end).map_err(|err| err.in_longer(text, begin + dots.end))?;
                            sizes.push(LoopSize { name: name.into(), size, span });
                        }
                        Some(Err(wrong)) => return Err(longer(wrong)),
                        None if part.is_empty() => return Err(tokens.expected("a layout such as `(64, 16)`")),
                        None => {
                            let chain = self.chain(part).map_err(longer)?;
                            layouts.push(Layout { name: name.into(), chain, begin });
                        }
                    }
                }
                _ => {
                    let what = "a layout such as `A = (64, 16)`, a size such as `i = 0..64`, or a statement such as \
                                `C[i, j] += A[i, k] * B[k, j]`";
                    return Err(tokens.expected(what));
                }
            }
        }
        let whole = |message: &str| ParseError::new(message, text, 0..text.trim_end().len());
        let item = match &statements[..] {
            [] => return Err(whole("there is no statement: say one, such as `C[i, j] += A[i, k] * B[k, j]`")),
            [item] => item.clone(),
            [_, second, ..] => {
                let message = "there are two statements: each has loops of its own, and one nest has one of them";
                return Err(ParseError::new(message, text, second.start..text[..second.end].trim_end().len()));
            }
        };
        let statement = read(text, item, layouts, sizes)?;
        // Names of which something is said are sizes, also where no layout has them.
        let spans = statement.elements().flat_map(|element| &element.axes).chain(&statement.condition);
        for (name, span) in spans.flat_map(|span| variables(text, span)) {
            if self.given.is_about(name) && statement.layout(name).is_none() {
                self.found(name, Role::Other).map_err(|message| ParseError::new(message, text, span))?;
            }
        }
        Ok(statement)
    }
}

impl Statement {
    /// The text as it was written.
    ///
    /// ```
    /// let text = "C[i] = A[i]; A = (8,).flip(0); C = (8,)";
    /// assert_eq!(shapetracker_symbolic::Question::default().statement(text)?.text(), text);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The statement itself, without the layouts and sizes.
    ///
    /// ```
    /// let statement = shapetracker_symbolic::Question::default().statement("A = (8,); C = (8,); C[i] = A[i] ")?;
    /// assert_eq!(statement.assignment(), "C[i] = A[i]");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn assignment(&self) -> &str {
        &self.text[self.span.clone()]
    }

    /// The layouts, each with the name of its buffer and its text, in the order in which they are written.
    ///
    /// ```
    /// let statement = shapetracker_symbolic::Question::default().statement("A = (8,).flip(0); C = (8,); C[i] = A[i]")?;
    /// assert!(statement.layouts().eq([("A", "(8,).flip(0)"), ("C", "(8,)")]));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn layouts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.layouts.iter().map(|layout| (&*layout.name, layout.chain.text()))
    }

    /// The layouts with values in the place of the names, one for each name of the question's [scope](crate::Question::scope), as
    /// [`Chain::at`] writes them; `None` where a number is past the range of 64-bit integers.
    ///
    /// ```
    /// let mut question = shapetracker_symbolic::Question::default();
    /// let statement = question.statement("C[i] = A[i]; A = (2*n,).flip(0); C = (2*n,)")?;
    /// assert_eq!(statement.layouts_at(&[4]).unwrap(), [("A", "(8,).flip(0)".to_owned()), ("C", "(8,)".to_owned())]);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn layouts_at(&self, values: &[i128]) -> Option<Vec<(&str, String)>> {
        self.layouts.iter().map(|layout| Some((&*layout.name, layout.chain.at(values)?))).collect()
    }

    /// The elements, that on the left first.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &Element> {
        let right = self.right.iter().filter_map(|piece| match piece {
            Piece::Element(element) => Some(element),
            _ => None,
        });
        [&self.target].into_iter().chain(right)
    }

    /// The number of the layout of a name.
    pub(crate) fn layout(&self, name: &str) -> Option<usize> {
        self.layouts.iter().position(|layout| *layout.name == *name)
    }
}

/// The names in some bytes of a text that can be variables, and their bytes.
pub(crate) fn variables<'t>(text: &'t str, part: &Range<usize>) -> Vec<(&'t str, Range<usize>)> {
    let (mut tokens, mut found) = (tokens(text, part), Vec::new());
    while tokens.token != Token::End {
        let word = tokens.word();
        let is_call = tokens.second() == Token::Open(b'(');
        if tokens.token == Token::Name && !is_call && why_no_name(word).is_none() && !INFIX.contains(&word) {
            found.push((word, tokens.span.clone()));
        }
        tokens.advance();
    }
    found
}

/// The tokens of some bytes of a text, as those of an expression.
fn tokens<'t>(text: &'t str, part: &Range<usize>) -> Tokens<'t> {
    let mut tokens = Tokens::of_expression(&text[..part.end]);
    tokens.go_on_at(part.start);
    tokens
}

/// The bytes of each line, or part between `;`, without comments. What is in parentheses may go on in the next line.
fn items(text: &str) -> Vec<Range<usize>> {
    let (mut items, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            // A text between quotes, if it ends in its line.
            '"' | '\'' => {
                let rest = &text[at + 1..];
                if let Some(length) = rest.find([letter, '\n']).filter(|length| rest[*length..].starts_with(letter)) {
                    let end = at + 1 + length;
                    while letters.clone().next().is_some_and(|(next, _)| next <= end) {
                        letters.next();
                    }
                }
            }
            '#' => {
                let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
                items.push(begin..at);
                while letters.clone().next().is_some_and(|(next, _)| next < end) {
                    letters.next();
                }
                begin = end;
            }
            ';' => {
                items.push(begin..at);
                (begin, depth) = (at + 1, 0);
            }
            '\n' if depth == 0 => {
                items.push(begin..at);
                begin = at + 1;
            }
            _ => {}
        }
    }
    items.push(begin..text.len());
    items.retain(|item| !text[item.clone()].trim().is_empty());
    items
}

/// The bytes of the dots of a range, where a text is one; what is wrong with where it begins.
fn range(text: &str) -> Option<Result<Range<usize>, ParseError>> {
    let (mut tokens, mut depth) = (Tokens::of_expression(text), 0_usize);
    let first = (tokens.value(), tokens.second());
    while tokens.token != Token::End {
        match tokens.token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            Token::Symbol if depth == 0 && tokens.word() == ".." => {
                let begin = text[..tokens.span.start].trim_end();
                if first == (Some(0), Token::Symbol) && begin.len() == 1 {
                    return Some(Ok(tokens.span));
                }
                let message = "a loop counts from 0: say `0..` and its size";
                return Some(Err(ParseError::new(message, text, 0..begin.len())));
            }
            _ => {}
        }
        tokens.advance();
    }
    None
}

/// Reads a statement over layouts.
fn read(text: &str, item: Range<usize>, layouts: Vec<Layout>, sizes: Vec<LoopSize>) -> Result<Statement, ParseError> {
    let end = text[..item.end].trim_end().len();
    let condition = condition(text, item.start..end);
    let right_end = condition.as_ref().map_or(end, |condition| text[..condition.start].trim_end().len() - "if".len());
    let mut tokens = tokens(text, &(item.start..right_end));
    let begin = tokens.span.start;
    let target = element(&mut tokens, &layouts)?;
    let operator = operator(&mut tokens)?;
    if tokens.token == Token::End {
        return Err(tokens.expected("what is written, such as `A[i, k] * B[k, j]`"));
    }
    let (mut right, mut from) = (Vec::new(), tokens.span.start);
    // Whether an element or a number comes next in a product, and whether all is one so far.
    let (mut factor, mut is_product) = (true, true);
    while tokens.token != Token::End {
        let is_member = text[..tokens.span.start].trim_end().ends_with('.');
        let (is_factor, before) = (factor, tokens.span.start);
        factor = !factor;
        match (tokens.token, tokens.second()) {
            (Token::Name, Token::Open(b'[')) if !is_member => {
                let element = element(&mut tokens, &layouts)?;
                right.extend([Piece::Text(from..before), Piece::Element(element)]);
                from = tokens.last;
                is_product &= is_factor;
                continue;
            }
            (Token::Name, _) if !is_member => {
                right.extend([Piece::Text(from..before), Piece::Name(tokens.span.clone())]);
                from = tokens.span.end;
                is_product = false;
            }
            (Token::Number | Token::NotWhole, _) => is_product &= is_factor,
            (Token::Symbol, _) if tokens.word() == "*" => is_product &= !is_factor,
            _ => is_product = false,
        }
        tokens.advance();
    }
    right.push(Piece::Text(from..text[..right_end].trim_end().len()));
    right.retain(|piece| !matches!(piece, Piece::Text(span) if span.is_empty()));
    is_product &= !factor;
    let span = begin..end;
    Ok(Statement { text: text.into(), layouts, sizes, target, operator, right, is_product, condition, span })
}

/// The bytes of the condition after the last `if`, unless an `else` comes after it: then it is of the language that is
/// written.
fn condition(text: &str, item: Range<usize>) -> Option<Range<usize>> {
    let (mut tokens, mut depth, mut found) = (tokens(text, &item), 0_usize, None);
    while tokens.token != Token::End {
        match tokens.token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            Token::Name if depth == 0 && tokens.word() == "if" => found = Some(tokens.span.end..item.end),
            Token::Name if depth == 0 && tokens.word() == "else" => found = None,
            _ => {}
        }
        tokens.advance();
    }
    found
}

/// Reads how a statement writes.
fn operator(tokens: &mut Tokens<'_>) -> Result<&'static str, ParseError> {
    let mut ahead = tokens.clone();
    let begin = ahead.span.start;
    if ahead.token == Token::Symbol {
        ahead.advance();
    }
    let text = &tokens.text[begin..ahead.span.end];
    let found = OPERATORS.into_iter().find(|operator| ahead.token == Token::Equals && *operator == text);
    let Some(operator) = found else {
        let all: Vec<String> = OPERATORS.iter().map(|operator| format!("`{operator}`")).collect();
        return Err(tokens.expected(&format!("one of {}", all.join(", "))));
    };
    ahead.advance();
    *tokens = ahead;
    Ok(operator)
}

/// Reads an element: the name of a layout, and an index for each axis.
fn element(tokens: &mut Tokens<'_>, layouts: &[Layout]) -> Result<Element, ParseError> {
    let (name, begin) = (tokens.word(), tokens.span.clone());
    let Some(layout) = layouts.iter().position(|layout| *layout.name == *name) else {
        let names = layouts.iter().map(|layout| &*layout.name);
        let message = match nearest(name, names) {
            Some(meant) => format!("{} has no layout: did you mean `{meant}`?", quoted(name)),
            None => format!("{} has no layout: say one, such as `{name} = (64,)`", quoted(name)),
        };
        return Err(tokens.error_at(begin, message));
    };
    tokens.advance();
    tokens.advance();
    let (mut axes, mut depth) = (Vec::new(), 0_usize);
    let mut from = tokens.span.start;
    loop {
        let axis = from..tokens.last.max(from);
        match tokens.token {
            Token::End => return Err(tokens.expected("`]`")),
            Token::Comma | Token::Close(b']') if depth == 0 => {
                let is_end = tokens.token != Token::Comma;
                // A comma may stand after the last index, as in Python.
                if !(is_end && axis.is_empty()) {
                    if axis.is_empty() {
                        return Err(tokens.expected("an index"));
                    }
                    axes.push(axis);
                }
                tokens.advance();
                if is_end {
                    return Ok(Element { layout, span: begin.start..tokens.last, axes });
                }
                from = tokens.span.start;
                continue;
            }
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        tokens.advance();
    }
}
