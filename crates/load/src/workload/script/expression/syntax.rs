//! Tokens become a tree, by the strength with which each operator binds.

use std::ops::RangeInclusive;

use super::{DEFAULT_SEED, Expression, Names, undefined};
use crate::workload::script::function::{Function, NAMED};
use crate::workload::script::lexer::{Placed, Token};
use crate::workload::script::value::Value;
use crate::workload::sql::Mistake;

/// Precedence of operators, from pgbench's manual, which gives all bitwise ones the same.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const TEST: u8 = 4;
const COMPARISON: u8 = 5;
const BITWISE: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const SIGN: u8 = 9;

/// Deeper nesting is no script of a person's; each level needs a piece of the stack.
const DEEPEST: usize = 100;

/// Reads tokens from the first to the last.
pub(super) struct Parser<'a, N> {
    tokens: &'a [Placed<'a>],
    position: usize,
    depth: usize,
    names: &'a N,
}

impl<'a, N: Names> Parser<'a, N> {
    pub(super) fn new(tokens: &'a [Placed<'a>], names: &'a N) -> Self {
        Self {
            tokens,
            position: 0,
            depth: 0,
            names,
        }
    }

    /// Everything that is one expression, from here on.
    pub(super) fn expression(&mut self) -> Result<Expression, Mistake> {
        self.binary(0)
    }

    pub(super) fn peek(&self) -> Placed<'a> {
        // The last token, the line's end, is never passed.
        self.tokens[self.position]
    }

    fn take(&mut self) -> Placed<'a> {
        let taken = self.peek();
        if taken.token != Token::End {
            self.position += 1;
        }
        taken
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek().token, Token::Symbol(here) if here == symbol);
        self.position += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found =
            matches!(self.peek().token, Token::Word(name) if name.eq_ignore_ascii_case(word));
        self.position += usize::from(found);
        found
    }

    fn expect_symbol(&mut self, symbol: &str) -> Result<(), Mistake> {
        if self.take_symbol(symbol) {
            return Ok(());
        }
        Err(Mistake::new(
            self.peek().at,
            format!("{symbol:?} is missing here"),
        ))
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Mistake> {
        if self.take_word(word) {
            return Ok(());
        }
        Err(Mistake::new(
            self.peek().at,
            format!("{} is missing here", word.to_uppercase()),
        ))
    }

    /// An operand with all operators after it that bind at least as tightly as `weakest`.
    fn binary(&mut self, weakest: u8) -> Result<Expression, Mistake> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Mistake::new(
                self.peek().at,
                format!("an expression nested more than {DEEPEST} deep"),
            ));
        }
        let mut left = self.operand()?;
        let mut compared = false;
        loop {
            let at = self.peek().at;
            if TEST >= weakest
                && let Some(test) = self.test()?
            {
                left = test(left, at);
                continue;
            }
            let Some((operator, strength)) = self.operator() else {
                break;
            };
            if strength < weakest {
                break;
            }
            if strength == COMPARISON && std::mem::replace(&mut compared, true) {
                return Err(Mistake::new(
                    at,
                    "comparisons do not chain; put one of them in parentheses",
                ));
            }
            self.take();
            let right = self.binary(strength + 1)?;
            left = operator.apply(left, right, at);
        }
        self.depth -= 1;
        Ok(left)
    }

    /// `IS [NOT] NULL|TRUE|FALSE`, `ISNULL` or `NOTNULL`, taken if it stands here.
    fn test(&mut self) -> Result<Option<impl FnOnce(Expression, usize) -> Expression>, Mistake> {
        let (negated, function) = if self.take_word("is") {
            let negated = self.take_word("not");
            let function = if self.take_word("null") {
                Function::IsNull
            } else if self.take_word("true") {
                Function::IsTrue
            } else if self.take_word("false") {
                Function::IsFalse
            } else {
                return Err(Mistake::new(
                    self.peek().at,
                    "NULL, TRUE or FALSE is missing after IS",
                ));
            };
            (negated, function)
        } else if self.take_word("isnull") {
            (false, Function::IsNull)
        } else if self.take_word("notnull") {
            (true, Function::IsNull)
        } else {
            return Ok(None);
        };
        Ok(Some(move |of, at| {
            let tested = of_one(function, of, at);
            if negated {
                of_one(Function::Not, tested, at)
            } else {
                tested
            }
        }))
    }

    /// The operator between two operands that stands here, which is not yet taken.
    fn operator(&self) -> Option<(Operator, u8)> {
        let found = match self.peek().token {
            Token::Word(word) if word.eq_ignore_ascii_case("or") => (Operator::Or, OR),
            Token::Word(word) if word.eq_ignore_ascii_case("and") => (Operator::And, AND),
            Token::Symbol(symbol) => match symbol {
                "=" => (Operator::Of(Function::Equal), COMPARISON),
                "<>" | "!=" => (Operator::Of(Function::NotEqual), COMPARISON),
                "<" => (Operator::Of(Function::Less), COMPARISON),
                "<=" => (Operator::Of(Function::LessOrEqual), COMPARISON),
                ">" => (Operator::Turned(Function::Less), COMPARISON),
                ">=" => (Operator::Turned(Function::LessOrEqual), COMPARISON),
                "|" => (Operator::Of(Function::BitOr), BITWISE),
                "#" => (Operator::Of(Function::BitXor), BITWISE),
                "&" => (Operator::Of(Function::BitAnd), BITWISE),
                "<<" => (Operator::Of(Function::ShiftLeft), BITWISE),
                ">>" => (Operator::Of(Function::ShiftRight), BITWISE),
                "+" => (Operator::Of(Function::Add), SUM),
                "-" => (Operator::Of(Function::Subtract), SUM),
                "*" => (Operator::Of(Function::Multiply), PRODUCT),
                "/" => (Operator::Of(Function::Divide), PRODUCT),
                "%" => (Operator::Of(Function::Modulo), PRODUCT),
                _ => return None,
            },
            _ => return None,
        };
        Some(found)
    }

    fn operand(&mut self) -> Result<Expression, Mistake> {
        let Placed { token, at } = self.take();
        match token {
            Token::Int(value) => i64::try_from(value)
                .map(|value| Expression::Constant(Value::Int(value)))
                .map_err(|_| Mistake::new(at, "larger than a 64-bit integer can be")),
            Token::Double(value) => Ok(Expression::Constant(Value::Double(value))),
            Token::Variable(name) => self.variable(name, at),
            Token::Symbol("(") => {
                let inside = self.binary(0)?;
                self.expect_symbol(")")?;
                Ok(inside)
            }
            Token::Symbol("+") => self.binary(SIGN),
            Token::Symbol("-") => {
                if self.peek().token == Token::Int(i64::MIN.unsigned_abs()) {
                    self.take();
                    return Ok(Expression::Constant(Value::Int(i64::MIN)));
                }
                Ok(of_one(Function::Negate, self.binary(SIGN)?, at))
            }
            Token::Symbol("~") => Ok(of_one(Function::BitNot, self.binary(BITWISE + 1)?, at)),
            Token::Word(word) => self.word(word, at),
            Token::End => Err(Mistake::new(at, "the line ends before a value")),
            Token::Symbol(symbol) => {
                Err(Mistake::new(at, format!("{symbol:?} instead of a value")))
            }
        }
    }

    fn variable(&self, name: &str, at: usize) -> Result<Expression, Mistake> {
        match self.names.slot(name) {
            Some(slot) => Ok(Expression::Variable { slot, at }),
            None => Err(undefined(name, at)),
        }
    }

    fn word(&mut self, word: &str, at: usize) -> Result<Expression, Mistake> {
        let constant = |value| Ok(Expression::Constant(value));
        match word.to_ascii_lowercase().as_str() {
            "null" => constant(Value::Null),
            "true" => constant(Value::Bool(true)),
            "false" => constant(Value::Bool(false)),
            "not" => Ok(of_one(Function::Not, self.binary(NOT)?, at)),
            "case" => self.case(),
            "debug" => Err(Mistake::new(
                at,
                "debug() would print during the measurement; leave it out",
            )),
            name => self.function(name, at),
        }
    }

    fn case(&mut self) -> Result<Expression, Mistake> {
        let mut branches = Vec::new();
        self.expect_word("when")?;
        loop {
            let condition = self.binary(0)?;
            self.expect_word("then")?;
            branches.push((condition, self.binary(0)?));
            if !self.take_word("when") {
                break;
            }
        }
        let otherwise = if self.take_word("else") {
            self.binary(0)?
        } else {
            Expression::Constant(Value::Null)
        };
        self.expect_word("end")?;
        Ok(Expression::Case {
            branches: branches.into(),
            otherwise: Box::new(otherwise),
        })
    }

    fn function(&mut self, name: &str, at: usize) -> Result<Expression, Mistake> {
        let Some((_, function, takes)) = NAMED.iter().find(|(own, ..)| *own == name) else {
            return Err(Mistake::new(at, unknown_function(name)));
        };
        self.expect_symbol("(")?;
        let mut arguments = Vec::new();
        if !self.take_symbol(")") {
            loop {
                arguments.push(self.binary(0)?);
                if !self.take_symbol(",") {
                    break;
                }
            }
            self.expect_symbol(")")?;
        }
        if !takes.contains(&arguments.len()) {
            return Err(Mistake::new(at, wrong_count(name, takes, arguments.len())));
        }
        if function.seed_position() == Some(arguments.len()) {
            arguments.push(self.variable(DEFAULT_SEED, at)?);
        }
        Ok(Expression::Call {
            function: *function,
            arguments: arguments.into(),
            at,
        })
    }
}

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Operator {
    Or,
    And,
    Of(Function),
    /// With its sides exchanged.
    Turned(Function),
}

impl Operator {
    fn apply(self, left: Expression, right: Expression, at: usize) -> Expression {
        let of_two = |function, sides: [Expression; 2]| Expression::Call {
            function,
            arguments: sides.into(),
            at,
        };
        match self {
            Self::Or => Expression::Or(Box::new([left, right])),
            Self::And => Expression::And(Box::new([left, right])),
            Self::Of(function) => of_two(function, [left, right]),
            Self::Turned(function) => of_two(function, [right, left]),
        }
    }
}

fn of_one(function: Function, of: Expression, at: usize) -> Expression {
    Expression::Call {
        function,
        arguments: [of].into(),
        at,
    }
}

fn unknown_function(name: &str) -> String {
    let all: Vec<_> = NAMED.iter().map(|(own, ..)| *own).collect();
    format!("no function {name:?}; there are {}", all.join(", "))
}

fn wrong_count(name: &str, takes: &RangeInclusive<usize>, given: usize) -> String {
    let wanted = match (*takes.start(), *takes.end()) {
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    format!("{name}() takes {wanted} arguments, not {given}")
}
