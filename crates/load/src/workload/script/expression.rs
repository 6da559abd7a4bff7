//! Expressions: what a line says, as a tree that is evaluated without allocating.

use rand::Rng;

use super::function::{Function, NAMED};
use super::lexer::{Placed, Token, tokens};
use super::source::Mistake;
use super::value::Value;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Constant(Value),
    Variable {
        slot: usize,
        at: usize,
    },
    Call {
        function: Function,
        arguments: Box<[Expression]>,
        at: usize,
    },
    And(Box<[Expression; 2]>),
    Or(Box<[Expression; 2]>),
    Case {
        /// Conditions with what they lead to.
        branches: Box<[(Expression, Expression)]>,
        otherwise: Box<Expression>,
    },
}

/// Names of variables as the script knows them where the expression stands.
pub(super) trait Names {
    /// The variable's slot; `None`: it has no value yet.
    fn slot(&self, name: &str) -> Option<usize>;
}

/// `:default_seed`, the seed of hashes and permutations that name none.
pub(super) const DEFAULT_SEED: &str = "default_seed";

/// Functions take at most three arguments, but for `greatest` and `least`, which fold theirs.
const MOST_ARGUMENTS: usize = 3;

impl Expression {
    /// Reads the expression that stands from `start` to the end of its line.
    pub(super) fn parse(text: &str, start: usize, names: &impl Names) -> Result<Self, Mistake> {
        let tokens = tokens(text, start)?;
        let mut parser = Parser {
            tokens: &tokens,
            position: 0,
            depth: 0,
            names,
        };
        let expression = parser.binary(0)?;
        let rest = parser.peek();
        match rest.token {
            Token::End => Ok(expression),
            _ => Err(Mistake::new(rest.at, "the expression should end here")),
        }
    }

    /// The value for the variables as they stand.
    pub(super) fn evaluate(
        &self,
        variables: &[Option<Value>],
        rng: &mut impl Rng,
    ) -> Result<Value, Box<Mistake>> {
        match self {
            Self::Constant(value) => Ok(*value),
            Self::Variable { slot, at } => variables[*slot].ok_or_else(|| Box::new(unset(*at))),
            Self::Call {
                function,
                arguments,
                at,
            } => call(*function, arguments, variables, rng)?
                .map_err(|message| Box::new(Mistake::new(*at, message))),
            Self::And(sides) => match sides[0].evaluate(variables, rng)? {
                Value::Null => Ok(Value::Null),
                first if !first.is_true() => Ok(Value::Bool(false)),
                _ => Ok(as_condition(sides[1].evaluate(variables, rng)?)),
            },
            Self::Or(sides) => match sides[0].evaluate(variables, rng)? {
                Value::Null => Ok(Value::Null),
                first if first.is_true() => Ok(Value::Bool(true)),
                _ => Ok(as_condition(sides[1].evaluate(variables, rng)?)),
            },
            Self::Case {
                branches,
                otherwise,
            } => {
                for (condition, result) in branches {
                    if condition.evaluate(variables, rng)?.is_true() {
                        return result.evaluate(variables, rng);
                    }
                }
                otherwise.evaluate(variables, rng)
            }
        }
    }
}

/// A variable that only a branch not taken would have set.
pub(super) fn unset(at: usize) -> Mistake {
    Mistake::new(
        at,
        "the variable has no value here: the branch that sets it was not taken",
    )
}

/// NULL stays NULL: as in pgbench, where it even hides a side that decides.
fn as_condition(value: Value) -> Value {
    match value {
        Value::Null => Value::Null,
        other => Value::Bool(other.is_true()),
    }
}

/// The outer error has a place of its own, inside an argument; the inner one is the call's.
fn call(
    function: Function,
    arguments: &[Expression],
    variables: &[Option<Value>],
    rng: &mut impl Rng,
) -> Result<Result<Value, String>, Box<Mistake>> {
    if matches!(function, Function::Greatest | Function::Least) {
        let mut chosen = arguments[0].evaluate(variables, rng)?;
        for argument in &arguments[1..] {
            let next = argument.evaluate(variables, rng)?;
            match function.call(&[chosen, next], rng) {
                Ok(value) => chosen = value,
                Err(message) => return Ok(Err(message)),
            }
        }
        return Ok(Ok(chosen));
    }
    let mut values = [Value::Null; MOST_ARGUMENTS];
    for (value, argument) in values.iter_mut().zip(arguments) {
        *value = argument.evaluate(variables, rng)?;
    }
    Ok(function.call(&values[..arguments.len()], rng))
}

/// How tightly operators bind, from pgbench's manual; the bitwise ones are all alike there.
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

struct Parser<'a, N> {
    tokens: &'a [Placed<'a>],
    position: usize,
    depth: usize,
    names: &'a N,
}

impl<'a, N: Names> Parser<'a, N> {
    fn peek(&self) -> Placed<'a> {
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
            Token::End => Err(Mistake::new(at, "the line ends where a value should stand")),
            Token::Symbol(symbol) => Err(Mistake::new(
                at,
                format!("{symbol:?} where a value should stand"),
            )),
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
                "debug() would print in the midst of a measurement; leave it out",
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
        let Some(named) = NAMED.iter().find(|named| named.name == name) else {
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
        if !(named.least..=named.most).contains(&arguments.len()) {
            return Err(Mistake::new(at, wrong_count(named, arguments.len())));
        }
        if named.function.seed_position() == Some(arguments.len()) {
            arguments.push(self.variable(DEFAULT_SEED, at)?);
        }
        Ok(Expression::Call {
            function: named.function,
            arguments: arguments.into(),
            at,
        })
    }
}

/// What joins two operands.
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

pub(super) fn undefined(name: &str, at: usize) -> Mistake {
    Mistake::new(
        at,
        format!("nothing has set {name} yet; \\set it above, or give --variable {name}=VALUE"),
    )
}

fn unknown_function(name: &str) -> String {
    let all: Vec<_> = NAMED.iter().map(|named| named.name).collect();
    format!("no function {name:?}; there are {}", all.join(", "))
}

fn wrong_count(named: &super::function::Named, given: usize) -> String {
    let wanted = match (named.least, named.most) {
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    format!("{}() takes {wanted} arguments, not {given}", named.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    struct Two;

    impl Names for Two {
        fn slot(&self, name: &str) -> Option<usize> {
            ["x", DEFAULT_SEED, "skipped"]
                .iter()
                .position(|known| *known == name)
        }
    }

    const VARIABLES: [Option<Value>; 3] = [Some(Value::Int(7)), Some(Value::Int(0)), None];

    fn value(text: &str) -> Result<Value, Mistake> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let expression = Expression::parse(text, 0, &Two)?;
        expression
            .evaluate(&VARIABLES, &mut rng)
            .map_err(|mistake| *mistake)
    }

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        value(text).expect(text).write(&mut out);
        String::from_utf8(out).unwrap()
    }

    /// The right-hand sides are what pgbench 15 makes of the left-hand ones.
    #[test]
    fn values_are_pgbenchs() {
        for (text, expected) in [
            ("1 | 2 & 4", "0"),
            ("~1 + 2", "-4"),
            ("5 & 3 + 1", "4"),
            ("1 << 2 + 1", "8"),
            ("not 1 = 1", "false"),
            ("not true or true", "true"),
            ("1 < 2 and 2 < 3 or false", "true"),
            ("- 2 is null", "false"),
            ("1 is not null is true", "true"),
            ("not 0 is false", "true"),
            ("5 is true", "false"),
            ("null is not true", "true"),
            ("null isnull", "true"),
            ("2 NOTNULL", "true"),
            ("2 - 3 - 4", "-5"),
            ("2 * 3 + 4 * -5", "-14"),
            ("1 - -1", "2"),
            ("- - 5", "5"),
            ("-7 / 2", "-3"),
            ("mod(-7, 3)", "-1"),
            ("7 / 2.0", "3.5"),
            ("1.5 % 2", "0"),
            ("3.5 << 1", "8"),
            ("-9223372036854775808 % -1", "0"),
            ("- 9223372036854775808", "-9223372036854775808"),
            ("least(1, 2.5, -3)", "-3"),
            ("greatest(1, null, 2.5)", "NULL"),
            ("pow(2, 0.5)", "1.4142135623731"),
            ("pi()", "3.14159265358979"),
            ("exp(1)", "2.71828182845905"),
            ("int(2.5)", "2"),
            ("int(-2.5)", "-2"),
            ("hash(5)", "-208465272938114760"),
            ("hash(1.5, 0)", "-4083905729319787502"),
            ("hash_fnv1a(42, 7)", "2765047632110736392"),
            ("null and false", "NULL"),
            ("null or true", "NULL"),
            ("false and (1/0 = 1)", "false"),
            ("case when false then 1 end", "NULL"),
            ("CASE WHEN null THEN 1 WHEN 2 THEN 7 END", "7"),
            ("case when 1 then 2.5 else 3 end", "2.5"),
            ("RANDOM(3, 3) + :x", "10"),
            ("permute(3, 1)", "0"),
            ("2 >= 2", "true"),
            ("2 > 2", "false"),
            ("1 = 1.0", "true"),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_place() {
        for (text, at, words) in [
            ("", 0, "ends where a value"),
            ("1 +", 3, "ends where a value"),
            ("1 2", 2, "should end here"),
            ("(1", 2, "\")\" is missing"),
            ("1 < 2 = true", 6, "do not chain"),
            ("1 + :y", 4, "nothing has set y"),
            ("randm(1, 2)", 0, "no function \"randm\""),
            ("random(1)", 0, "takes 2 arguments, not 1"),
            ("hash(1, 2, 3)", 0, "takes 1 to 2 arguments, not 3"),
            ("least()", 0, "takes at least 1"),
            ("1 is", 4, "after IS"),
            ("case 1 when 1 then 2 end", 5, "WHEN is missing"),
            ("case when 1 then 2", 18, "END is missing"),
            ("debug(1)", 0, "leave it out"),
            ("9223372036854775808", 0, "64-bit"),
            (") + 1", 0, "where a value"),
        ] {
            let mistake = value(text).expect_err(text);
            assert_eq!(mistake.at, at, "{text}: {}", mistake.message);
            assert!(mistake.message.contains(words), "{}", mistake.message);
        }
    }

    #[test]
    fn what_goes_wrong_in_evaluation_has_its_place() {
        for (text, at, words) in [
            ("1 + 1 / 0", 6, "divided by zero"),
            ("1 % (:x - 7)", 2, "divided by zero"),
            ("9223372036854775807 + 1", 20, "64-bit"),
            ("-9223372036854775808 / -1", 21, "64-bit"),
            ("abs(-9223372036854775808)", 0, "64-bit"),
            ("int(1e30)", 0, "64-bit"),
            ("1 << 64", 2, "shift by 64"),
            ("1 + true", 2, "condition"),
            ("random(2, 1)", 0, "empty"),
            ("1 + :skipped", 4, "branch"),
            ("permute(1, 0)", 0, "above 0"),
        ] {
            let mistake = value(text).expect_err(text);
            assert_eq!(mistake.at, at, "{text}: {}", mistake.message);
            assert!(mistake.message.contains(words), "{}", mistake.message);
        }
    }

    #[test]
    fn deep_and_long_expressions_do_not_exhaust_the_stack() {
        for text in [
            format!("{}1{}", "(".repeat(400), ")".repeat(400)),
            format!("{}1", "-".repeat(900)),
            format!("{}true", "not ".repeat(900)),
        ] {
            assert!(value(&text).unwrap_err().message.contains("nested"));
        }
        assert_eq!(written(&vec!["1"; 400].join("+")), "400");
    }
}
