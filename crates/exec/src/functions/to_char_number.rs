//! to_char and to_number over numbers. Compare the `NUM_` part of `formatting.c`.
//!
//! A format is parsed once into elements and a description (digits before and after the point, sign, fill mode). Writing walks the
//! elements beside the digits of the number, which was rounded to the digits after the point: places left of the first digit become
//! blanks (or zeros from the first `0` of the format on), and the sign stands right before the first character of the number.

use super::{Entry, EvalContext, scalar, text};
use catalog::types::numeric::Numeric;
use catalog::{Datum, Result, SqlError, SqlState};

/// An element of a format.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Element {
    Nine,
    Zero,
    Point,
    Group,
    Currency,
    Minus,
    Plus,
    Sign,
    Roman {
        upper: bool,
    },
    Ordinal {
        upper: bool,
    },
    Literal(char),
    /// B, FM, S, PR, V, EEEE: they change the description only.
    Nothing,
}

/// Where `S` stands.
#[derive(Clone, Copy, PartialEq, Debug)]
enum SignPlace {
    None,
    Before,
    After,
}

/// What a format says as a whole.
#[derive(Clone, Debug)]
struct Format {
    elements: Vec<Element>,
    pre: usize,
    post: usize,
    point: bool,
    zero: bool,
    zero_start: usize,
    zero_end: usize,
    fill: bool,
    sign_place: SignPlace,
    pre_at_sign: usize,
    bracket: bool,
    minus: bool,
    plus: bool,
    roman: bool,
    /// Digits after V.
    shift: Option<usize>,
    exponent: bool,
}

fn syntax(message: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

impl Format {
    fn parse(pattern: &str) -> Result<Format> {
        let mut f = Format {
            elements: Vec::new(),
            pre: 0,
            post: 0,
            point: false,
            zero: false,
            zero_start: 0,
            zero_end: 0,
            fill: false,
            sign_place: SignPlace::None,
            pre_at_sign: 0,
            bracket: false,
            minus: false,
            plus: false,
            roman: false,
            shift: None,
            exponent: false,
        };
        let mut rest = pattern;
        while let Some(c) = rest.chars().next() {
            if let Some((word, element)) = keyword(rest) {
                f.describe(word, element)?;
                rest = &rest[word.len()..];
                continue;
            }
            rest = &rest[c.len_utf8()..];
            if c == '"' {
                rest = f.quoted(rest);
            } else if c == '\\' && rest.starts_with('"') {
                rest = &rest[1..];
                f.elements.push(Element::Literal('"'));
            } else {
                f.elements.push(Element::Literal(c));
            }
        }
        Ok(f)
    }

    /// Takes a quoted text, its first quote taken.
    fn quoted<'p>(&mut self, text: &'p str) -> &'p str {
        let mut chars = text.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return &text[at + 1..],
                '\\' => {
                    if let Some((_, c)) = chars.next() {
                        self.elements.push(Element::Literal(c));
                    }
                }
                c => self.elements.push(Element::Literal(c)),
            }
        }
        ""
    }

    fn describe(&mut self, word: &str, element: Element) -> Result<()> {
        if self.exponent && !word.eq_ignore_ascii_case("eeee") {
            return Err(syntax("\"EEEE\" must be the last pattern used"));
        }
        match word.to_ascii_uppercase().as_str() {
            "9" => {
                if self.bracket {
                    return Err(syntax("\"9\" must be ahead of \"PR\""));
                }
                if let Some(digits) = &mut self.shift {
                    *digits += 1;
                } else if self.point {
                    self.post += 1;
                } else {
                    self.pre += 1;
                }
            }
            "0" => {
                if self.bracket {
                    return Err(syntax("\"0\" must be ahead of \"PR\""));
                }
                if !self.zero && !self.point {
                    self.zero = true;
                    self.zero_start = self.pre;
                }
                if self.point {
                    self.post += 1;
                } else {
                    self.pre += 1;
                }
                self.zero_end = self.pre + self.post;
            }
            "." | "D" => {
                if self.point {
                    return Err(syntax("multiple decimal points"));
                }
                if self.shift.is_some() {
                    return Err(syntax("cannot use \"V\" and decimal point together"));
                }
                self.point = true;
            }
            "FM" => self.fill = true,
            "S" => {
                if self.sign_place != SignPlace::None {
                    return Err(syntax("cannot use \"S\" twice"));
                }
                if self.plus || self.minus || self.bracket {
                    return Err(syntax("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
                }
                self.pre_at_sign = self.pre;
                self.sign_place = if self.point { SignPlace::After } else { SignPlace::Before };
            }
            "MI" | "PL" | "SG" => {
                if self.sign_place != SignPlace::None {
                    let name = word.to_ascii_uppercase();
                    return Err(syntax(&format!("cannot use \"S\" and \"{name}\" together")));
                }
                self.minus |= element != Element::Plus;
                self.plus |= element != Element::Minus;
            }
            "PR" => {
                if self.sign_place != SignPlace::None || self.plus || self.minus {
                    return Err(syntax("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together"));
                }
                self.bracket = true;
            }
            "RN" => self.roman = true,
            "V" => {
                if self.point {
                    return Err(syntax("cannot use \"V\" and decimal point together"));
                }
                self.shift = Some(0);
            }
            "EEEE" => {
                if self.exponent {
                    return Err(syntax("cannot use \"EEEE\" twice"));
                }
                let others = self.fill
                    || self.sign_place != SignPlace::None
                    || self.bracket
                    || self.minus
                    || self.plus
                    || self.roman
                    || self.shift.is_some();
                if others {
                    return Err(syntax("\"EEEE\" is incompatible with other formats").detail(
                        "\"EEEE\" may only be used together with digit and decimal point patterns.",
                    ));
                }
                self.exponent = true;
            }
            _ => {}
        }
        self.elements.push(element);
        Ok(())
    }
}

/// The key word at the start of a format.
fn keyword(text: &str) -> Option<(&str, Element)> {
    const WORDS: &[(&str, Element)] = &[
        ("EEEE", Element::Nothing),
        ("FM", Element::Nothing),
        ("MI", Element::Minus),
        ("PL", Element::Plus),
        ("PR", Element::Nothing),
        ("RN", Element::Roman { upper: true }),
        ("SG", Element::Sign),
        ("SP", Element::Nothing),
        ("TH", Element::Ordinal { upper: true }),
        (",", Element::Group),
        (".", Element::Point),
        ("0", Element::Zero),
        ("9", Element::Nine),
        ("B", Element::Nothing),
        ("C", Element::Nothing),
        ("D", Element::Point),
        ("E", Element::Nothing),
        ("G", Element::Group),
        ("L", Element::Currency),
        ("S", Element::Nothing),
        ("V", Element::Nothing),
    ];
    for (word, element) in WORDS {
        let Some(start) = text.get(..word.len()) else { continue };
        if start == *word {
            return Some((start, *element));
        }
        if start == word.to_ascii_lowercase() {
            let element = match element {
                Element::Roman { .. } => Element::Roman { upper: false },
                Element::Ordinal { .. } => Element::Ordinal { upper: false },
                other => *other,
            };
            return Some((start, element));
        }
    }
    None
}

/// The digits of a number for a format: without sign, rounded to the digits after the point.
struct Digits {
    negative: bool,
    text: String,
    /// Places of the format left of the number.
    blanks: usize,
}

impl Digits {
    /// From the decimal text of a number that has been rounded; `#` in every place if it has more digits than the format.
    fn new(format: &Format, number: &str) -> Digits {
        let (negative, text) = match number.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, number),
        };
        let len = text.find('.').unwrap_or(text.len());
        if len > format.pre {
            let mut text = "#".repeat(format.pre);
            text.push('.');
            text.push_str(&"#".repeat(format.post));
            return Digits { negative, text, blanks: 0 };
        }
        Digits { negative, text: text.to_owned(), blanks: format.pre - len }
    }
}

/// Writes a number by a format.
struct Writer<'f> {
    format: &'f Format,
    digits: &'f [u8],
    negative: bool,
    blanks: usize,
    /// Place in the digits.
    at: usize,
    /// Places of the format gone by.
    place: usize,
    count: usize,
    signed: bool,
    /// Whether the last place wrote a digit.
    inside: bool,
    /// With fill mode: the last digit after the point that is not a superfluous zero, or the point.
    last_relevant: Option<usize>,
    bracket: bool,
    sign_place: SignPlace,
    out: String,
}

impl Writer<'_> {
    fn write(format: &Format, digits: &Digits) -> String {
        let bytes = digits.text.as_bytes();
        let mut bracket = format.bracket;
        let mut sign_place = format.sign_place;
        let signed = if format.plus || format.minus {
            !format.plus || format.minus
        } else {
            if !digits.negative && format.fill {
                bracket = false;
            }
            if sign_place == SignPlace::Before && format.pre == format.pre_at_sign {
                sign_place = SignPlace::After;
            }
            !digits.negative && format.fill && sign_place == SignPlace::None
        };
        let mut last_relevant = None;
        if format.fill && format.point {
            last_relevant = digits.text.find('.').map(|point| {
                let trimmed = digits.text.trim_end_matches('0').len();
                (trimmed.max(point + 1)) - 1
            });
            if let Some(last) = last_relevant
                && format.zero_end > digits.blanks
            {
                let last_zero = (format.zero_end - digits.blanks).min(bytes.len().saturating_sub(1));
                last_relevant = Some(last.max(last_zero));
            }
        }
        let mut count = (format.post + format.pre).saturating_sub(1);
        if !signed && digits.blanks == 0 {
            count += 1;
        }
        let mut writer = Writer {
            format,
            digits: bytes,
            negative: digits.negative,
            blanks: digits.blanks,
            at: 0,
            place: 0,
            count,
            signed,
            inside: false,
            last_relevant,
            bracket,
            sign_place,
            out: String::new(),
        };
        for element in &format.elements {
            writer.element(*element);
        }
        writer.out
    }

    fn element(&mut self, element: Element) {
        match element {
            Element::Nine | Element::Zero | Element::Point => self.number_place(element == Element::Zero),
            Element::Group => self.blank_or(self.inside.then_some(',')),
            Element::Currency => self.out.push(' '),
            Element::Minus => self.blank_or(self.negative.then_some('-')),
            Element::Plus => self.blank_or((!self.negative).then_some('+')),
            Element::Sign => self.out.push(if self.negative { '-' } else { '+' }),
            Element::Ordinal { upper } => {
                let plain = !self.negative && !self.format.point && self.digits.first() != Some(&b'#');
                if plain {
                    self.out.push_str(ordinal(std::str::from_utf8(self.digits).unwrap_or_default(), upper));
                }
            }
            Element::Literal(c) => self.out.push(c),
            Element::Roman { .. } | Element::Nothing => {}
        }
    }

    fn blank_or(&mut self, c: Option<char>) {
        match c {
            Some(c) => self.out.push(c),
            None if self.format.fill => {}
            None => self.out.push(' '),
        }
    }

    /// Whether the next digit is the zero before the point of a number below one, which `9` does not write.
    fn is_leading_zero(&self) -> bool {
        !self.format.zero && self.at == 0 && self.digits.first() == Some(&b'0') && self.format.post != 0
    }

    fn last_is_point(&self) -> bool {
        self.last_relevant.and_then(|at| self.digits.get(at)) == Some(&b'.')
    }

    fn number_place(&mut self, is_zero: bool) {
        self.inside = false;
        let reached = self.place >= self.blanks || (self.format.zero && self.format.zero_start == self.place);
        if !self.signed && reached && (!self.is_leading_zero() || self.last_is_point()) {
            self.sign();
        }
        let zero_from_here = self.format.zero && self.format.zero_start <= self.place;
        if self.place < self.blanks {
            if zero_from_here {
                self.out.push('0');
                self.inside = true;
            } else if !self.format.fill {
                self.out.push(' ');
            }
        } else {
            self.digit(is_zero);
            if self.at < self.digits.len() {
                self.at += 1;
            }
        }
        let mut end = self.count + usize::from(self.blanks > 0) + usize::from(self.format.point);
        if self.last_relevant == Some(self.at) {
            end = self.place;
        }
        if self.place + 1 == end {
            if self.signed && self.bracket {
                self.out.push(if self.negative { '>' } else { ' ' });
            } else if self.sign_place == SignPlace::After {
                self.out.push(if self.negative { '-' } else { '+' });
            }
        }
        self.place += 1;
    }

    fn sign(&mut self) {
        match self.sign_place {
            SignPlace::Before => self.out.push(if self.negative { '-' } else { '+' }),
            SignPlace::After => return,
            SignPlace::None if self.bracket => self.out.push(if self.negative { '<' } else { ' ' }),
            SignPlace::None if self.negative => self.out.push('-'),
            SignPlace::None if self.format.fill => {}
            SignPlace::None => self.out.push(' '),
        }
        self.signed = true;
    }

    fn digit(&mut self, is_zero: bool) {
        let current = self.digits.get(self.at).copied();
        if current == Some(b'.') {
            self.out.push('.');
            return;
        }
        if self.last_relevant.is_some_and(|last| self.at > last) && !is_zero {
            return;
        }
        if self.is_leading_zero() {
            if !self.format.fill {
                self.out.push(' ');
            } else if self.last_is_point() {
                self.out.push('0');
            }
            return;
        }
        if let Some(digit) = current {
            self.out.push(char::from(digit));
            self.inside = true;
        }
    }
}

/// `st`, `nd`, `rd` or `th` for a number (`get_th`).
pub(super) fn ordinal(digits: &str, upper: bool) -> &'static str {
    let bytes = digits.as_bytes();
    let teen = bytes.len() > 1 && bytes.get(bytes.len() - 2) == Some(&b'1');
    match (bytes.last(), teen, upper) {
        (Some(b'1'), false, true) => "ST",
        (Some(b'2'), false, true) => "ND",
        (Some(b'3'), false, true) => "RD",
        (_, _, true) => "TH",
        (Some(b'1'), false, false) => "st",
        (Some(b'2'), false, false) => "nd",
        (Some(b'3'), false, false) => "rd",
        (_, _, false) => "th",
    }
}

/// RN: a number from 1 to 3999 in 15 characters.
fn roman(format: &Format, number: Option<i64>) -> String {
    const PARTS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let numeral = match number {
        Some(mut n @ 1..=3999) => {
            let mut numeral = String::new();
            for (value, letters) in PARTS {
                while n >= value {
                    numeral.push_str(letters);
                    n -= value;
                }
            }
            numeral
        }
        _ => "#".repeat(15),
    };
    let lower = format.elements.contains(&Element::Roman { upper: false });
    let numeral = if lower { numeral.to_ascii_lowercase() } else { numeral };
    if format.fill { numeral } else { format!("{numeral:>15}") }
}

/// EEEE: scientific notation, `+` shown as a blank.
fn scientific(number: &Numeric, post: usize) -> Result<String> {
    let text = if number.is_finite() {
        let plain = number.to_string();
        exponent_form(&plain, post)?
    } else {
        // As many # as the format has places.
        return Ok(format!(" #.{}####", "#".repeat(post)));
    };
    Ok(if text.starts_with('-') { text } else { format!(" {text}") })
}

/// `d.ddde+dd` of a decimal text.
fn exponent_form(plain: &str, post: usize) -> Result<String> {
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", plain),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all: String = format!("{whole}{fraction}");
    let Some(first) = all.find(|c| c != '0') else {
        let zeros = "0".repeat(post);
        return Ok(format!("0{}{zeros}e+00", if post > 0 { "." } else { "" }));
    };
    let mut exponent = whole.len() as i64 - 1 - first as i64;
    let mantissa = Numeric::parse(&format!("{}.{}", &all[first..=first], &all[first + 1..]))?;
    let mut mantissa = mantissa.round(post as i32).to_string();
    if mantissa.starts_with("10") {
        exponent += 1;
        mantissa = Numeric::parse(&format!("1.{}", "0".repeat(post)))?.round(post as i32).to_string();
    }
    let direction = if exponent < 0 { '-' } else { '+' };
    Ok(format!("{sign}{mantissa}e{direction}{:02}", exponent.abs()))
}

/// Formats an exact number.
fn exact(pattern: &str, number: Numeric) -> Result<String> {
    let mut format = Format::parse(pattern)?;
    if format.roman {
        let rounded = number.is_finite().then(|| number.to_i64().ok()).flatten();
        return Ok(roman(&format, rounded));
    }
    if format.exponent {
        return scientific(&number, format.post);
    }
    let mut number = number;
    if let Some(shift) = format.shift {
        let factor = Numeric::from(10).power(&Numeric::from(shift as i64))?;
        number = number.mul(&factor)?;
        format.pre += shift;
    }
    let text = number.round(format.post as i32).to_string();
    Ok(Writer::write(&format, &Digits::new(&format, &text)))
}

/// Formats a float: no more digits than it has (15 or 6).
fn inexact(pattern: &str, number: f64, significant: usize) -> Result<String> {
    let mut format = Format::parse(pattern)?;
    if format.roman {
        let rounded = number.round_ties_even();
        return Ok(roman(&format, (rounded.abs() < 1e9).then_some(rounded as i64)));
    }
    if format.exponent {
        if !number.is_finite() {
            return Ok(format!(" #.{}####", "#".repeat(format.post)));
        }
        let text = format!("{:.*e}", format.post, number);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let blank = if number < 0.0 { "" } else { " " };
        let direction = if exponent < 0 { '-' } else { '+' };
        return Ok(format!("{blank}{mantissa}e{direction}{:02}", exponent.abs()));
    }
    let mut number = number;
    if let Some(shift) = format.shift {
        number *= 10f64.powi(shift as i32);
        format.pre += shift;
    }
    if !number.is_finite() {
        let text = if number.is_nan() { "NaN" } else { "Infinity" };
        return Ok(Writer::write(&format, &Digits::new(&format, text)));
    }
    let digits = format!("{:.0}", number.abs()).len();
    if digits >= significant {
        format.post = 0;
    } else {
        format.post = format.post.min(significant - digits);
    }
    let text = format!("{number:.*}", format.post);
    Ok(Writer::write(&format, &Digits::new(&format, &text)))
}

/// to_number: the digits, point and sign of a text, read by a format.
fn to_number(input: &str, pattern: &str) -> Result<Numeric> {
    let format = Format::parse(pattern)?;
    if format.roman {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "\"RN\" not supported for input"));
    }
    if format.exponent {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "\"EEEE\" not supported for input"));
    }
    let mut number = String::new();
    let mut negative = false;
    let (mut pre, mut post, mut point) = (0, 0, false);
    let mut chars = input.chars().peekable();
    let mut elements = format.elements.iter().peekable();
    while let Some(element) = elements.next() {
        match element {
            Element::Nine | Element::Zero | Element::Point => {
                while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
                if let Some(sign) = chars.next_if(|c| matches!(c, '-' | '+' | '<')) {
                    negative |= sign != '+';
                    while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
                }
                match chars.peek() {
                    Some('.') if !point && *element == Element::Point => {
                        chars.next();
                        point = true;
                        number.push('.');
                    }
                    Some(c) if c.is_ascii_digit() && *element != Element::Point => {
                        if point {
                            post += 1;
                        } else {
                            pre += 1;
                        }
                        if (point && post <= format.post)
                            || (!point && pre <= format.pre + format.shift.unwrap_or(0))
                        {
                            number.push(*c);
                        }
                        chars.next();
                    }
                    _ => {}
                }
                if elements.peek().is_none()
                    && chars.next_if(|c| matches!(c, '-' | '>')).is_some_and(|c| c == '-')
                {
                    negative = true;
                }
            }
            Element::Group => {
                chars.next_if_eq(&',');
            }
            Element::Minus | Element::Sign => {
                negative |= chars.next_if_eq(&'-').is_some();
                chars.next_if_eq(&'+');
            }
            Element::Plus => {
                chars.next_if_eq(&'+');
            }
            Element::Currency | Element::Literal(_) => {
                if chars.peek().is_some_and(|c| !c.is_ascii_digit()) {
                    chars.next();
                }
            }
            Element::Ordinal { .. } => {
                chars.next();
                chars.next();
            }
            Element::Nothing if format.sign_place != SignPlace::None => {
                negative |= chars.next_if_eq(&'-').is_some();
                chars.next_if_eq(&'+');
            }
            Element::Nothing | Element::Roman { .. } => {}
        }
    }
    let number = number.trim_end_matches('.');
    let number = if number.is_empty() { return Err(SqlError::invalid_text("numeric", " ")) } else { number };
    let number = if number.starts_with('.') { format!("0{number}") } else { number.to_owned() };
    let mut value = Numeric::parse(&number)?;
    if let Some(shift) = format.shift {
        value = value.div(&Numeric::from(10).power(&Numeric::from(shift as i64))?)?;
    }
    Ok(if negative { value.neg() } else { value })
}

/// Integers are exact, but int4 goes to scientific notation through a double, which rounds half to even.
fn int<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>], through_double: bool) -> Result<Datum<'a>> {
    let (number, pattern) = (a[0].as_int(), a[1].as_str());
    let formatted = if through_double && Format::parse(pattern)?.exponent {
        inexact(pattern, number as f64, 15)?
    } else {
        exact(pattern, Numeric::from(number))?
    };
    Ok(text(cx, &formatted))
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("int4_to_char", scalar(|cx, _, a| int(cx, a, true))),
    ("int8_to_char", scalar(|cx, _, a| int(cx, a, false))),
    (
        "numeric_to_char",
        scalar(|cx, _, a| Ok(text(cx, &exact(a[1].as_str(), Numeric::unpack(a[0].as_bytes()))?))),
    ),
    ("float8_to_char", scalar(|cx, _, a| Ok(text(cx, &inexact(a[1].as_str(), a[0].as_float(), 15)?)))),
    ("float4_to_char", scalar(|cx, _, a| Ok(text(cx, &inexact(a[1].as_str(), a[0].as_float(), 6)?)))),
    (
        "numeric_to_number",
        scalar(|cx, _, a| {
            if a[1].as_bytes().is_empty() {
                return Ok(Datum::Null);
            }
            Ok(to_number(a[0].as_str(), a[1].as_str())?.datum(cx.arena))
        }),
    ),
];
