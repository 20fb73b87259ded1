//! Parses structured field dictionaries (RFC 9651 section 4.2.2) where HTTP itself uses them:
//! checks the whole syntax, returns the members one by one, and does not allocate.

/// The field does not parse: RFC 9651 section 4.2 says to ignore it whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// A member's value. Kinds that no field of ours uses are checked and not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Boolean(bool),
    Integer(i64),
    Decimal,
    String,
    Token,
    Bytes,
    Date,
    DisplayString,
    List,
}

/// Calls `member` for every key and value in order; a later member with the same key replaces an
/// earlier one. Parameters are checked and skipped. What was handed out counts only if the whole
/// field parses.
pub(crate) fn dictionary<'a>(
    field: &'a [u8],
    mut member: impl FnMut(&'a [u8], Value),
) -> Result<(), Malformed> {
    let mut text = Text { rest: field };
    text.skip(b" ");
    text.rest = trim_spaces_end(text.rest);
    while !text.rest.is_empty() {
        let key = text.key()?;
        let value = if text.eat(b'=') {
            text.item_or_list()?
        } else {
            Value::Boolean(true)
        };
        text.parameters()?;
        member(key, value);
        text.skip(b" \t");
        if text.rest.is_empty() {
            break;
        }
        text.expect(b',')?;
        text.skip(b" \t");
        if text.rest.is_empty() {
            return Err(Malformed); // a trailing comma
        }
    }
    Ok(())
}

fn trim_spaces_end(mut bytes: &[u8]) -> &[u8] {
    while let [front @ .., b' '] = bytes {
        bytes = front;
    }
    bytes
}

struct Text<'a> {
    rest: &'a [u8],
}

impl<'a> Text<'a> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }
    fn next(&mut self) -> Result<u8, Malformed> {
        let (&first, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(first)
    }
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }
    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.eat(byte) {
            Ok(())
        } else {
            Err(Malformed)
        }
    }
    fn skip(&mut self, any_of: &[u8]) {
        self.take_while(|byte| any_of.contains(&byte));
    }
    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self
            .rest
            .iter()
            .position(|&byte| !wanted(byte))
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Section 4.2.3.3.
    fn key(&mut self) -> Result<&'a [u8], Malformed> {
        match self.peek() {
            Some(b'a'..=b'z' | b'*') => Ok(self.take_while(
                |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*'),
            )),
            _ => Err(Malformed),
        }
    }
    /// Section 4.2.3.2.
    fn parameters(&mut self) -> Result<(), Malformed> {
        while self.eat(b';') {
            self.skip(b" ");
            self.key()?;
            if self.eat(b'=') {
                self.bare_item()?;
            }
        }
        Ok(())
    }
    /// Section 4.2.1.1: without the parameters behind it.
    fn item_or_list(&mut self) -> Result<Value, Malformed> {
        if !self.eat(b'(') {
            return self.bare_item();
        }
        loop {
            self.skip(b" ");
            if self.eat(b')') {
                return Ok(Value::List);
            }
            self.bare_item()?;
            self.parameters()?;
            if !matches!(self.peek(), Some(b' ' | b')')) {
                return Err(Malformed);
            }
        }
    }
    /// Section 4.2.3.1.
    fn bare_item(&mut self) -> Result<Value, Malformed> {
        match self.peek().ok_or(Malformed)? {
            b'-' | b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'*' | b'A'..=b'Z' | b'a'..=b'z' => {
                self.take_while(|byte| {
                    matches!(byte, b':' | b'/') || crate::http::field::syntax::is_token(&[byte])
                });
                Ok(Value::Token)
            }
            b':' => self.bytes(),
            b'?' => self.boolean(),
            b'@' => self.date(),
            b'%' => self.display_string(),
            _ => Err(Malformed),
        }
    }
    /// Section 4.2.4: 15 digits, or 12 with 1 to 3 behind the point.
    fn number(&mut self) -> Result<Value, Malformed> {
        let negative = self.eat(b'-');
        let whole = self.take_while(|byte| byte.is_ascii_digit());
        if whole.is_empty() {
            return Err(Malformed);
        }
        if self.eat(b'.') {
            let fraction = self.take_while(|byte| byte.is_ascii_digit());
            let fits = whole.len() <= 12 && (1..=3).contains(&fraction.len());
            return if fits {
                Ok(Value::Decimal)
            } else {
                Err(Malformed)
            };
        }
        if whole.len() > 15 {
            return Err(Malformed);
        }
        let number = whole
            .iter()
            .fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'));
        Ok(Value::Integer(if negative { -number } else { number }))
    }
    /// Section 4.2.5.
    fn string(&mut self) -> Result<Value, Malformed> {
        self.expect(b'"')?;
        loop {
            match self.next()? {
                b'"' => return Ok(Value::String),
                b'\\' if matches!(self.next()?, b'"' | b'\\') => {}
                b'\\' | 0..=0x1f | 0x7f.. => return Err(Malformed),
                _ => {}
            }
        }
    }
    /// Section 4.2.7. Padding may be left out; wherever it stands it must be at the end.
    fn bytes(&mut self) -> Result<Value, Malformed> {
        self.expect(b':')?;
        let digits = self.take_while(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte));
        let padding = self.take_while(|byte| byte == b'=');
        let padded = padding.is_empty() || (digits.len() + padding.len()).is_multiple_of(4);
        if digits.len() % 4 == 1 || padding.len() > 2 || !padded {
            return Err(Malformed);
        }
        self.expect(b':')?;
        Ok(Value::Bytes)
    }
    /// Section 4.2.8.
    fn boolean(&mut self) -> Result<Value, Malformed> {
        self.expect(b'?')?;
        match self.next()? {
            b'0' => Ok(Value::Boolean(false)),
            b'1' => Ok(Value::Boolean(true)),
            _ => Err(Malformed),
        }
    }
    /// Section 4.2.9.
    fn date(&mut self) -> Result<Value, Malformed> {
        self.expect(b'@')?;
        match self.number()? {
            Value::Integer(_) => Ok(Value::Date),
            _ => Err(Malformed),
        }
    }
    /// Section 4.2.10: percent-encoded UTF-8, lower-case hexadecimal.
    fn display_string(&mut self) -> Result<Value, Malformed> {
        self.expect(b'%')?;
        self.expect(b'"')?;
        let mut utf8 = Utf8::default();
        loop {
            match self.next()? {
                b'"' if utf8.is_whole() => return Ok(Value::DisplayString),
                b'%' => {
                    let high = hexadecimal(self.next()?)?;
                    let low = hexadecimal(self.next()?)?;
                    utf8.take(high << 4 | low)?;
                }
                b'"' | 0..=0x1f | 0x7f.. => return Err(Malformed),
                byte => utf8.take(byte)?,
            }
        }
    }
}

fn hexadecimal(digit: u8) -> Result<u8, Malformed> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(Malformed),
    }
}

/// Checks UTF-8 (RFC 3629) byte by byte: at most one character is kept.
#[derive(Default)]
struct Utf8 {
    character: [u8; 4],
    len: usize,
}

impl Utf8 {
    fn is_whole(&self) -> bool {
        self.len == 0
    }
    fn take(&mut self, byte: u8) -> Result<(), Malformed> {
        *self.character.get_mut(self.len).ok_or(Malformed)? = byte;
        self.len += 1;
        match std::str::from_utf8(&self.character[..self.len]) {
            Ok(_) => self.len = 0,
            // Without a length the error says: incomplete so far.
            Err(error) if error.error_len().is_none() => {}
            Err(_) => return Err(Malformed),
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "structured_test.rs"]
mod structured_test;
