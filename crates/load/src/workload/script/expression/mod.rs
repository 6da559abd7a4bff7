//! Expressions: what a line says, as a tree that is evaluated without allocating.

mod syntax;
#[cfg(test)]
mod tests;

use rand::Rng;

use super::function::Function;
use super::lexer::{Token, tokens};
use super::value::Value;
use crate::workload::sql::Mistake;
use syntax::Parser;

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

/// Names of variables that the script has at the expression.
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
        let mut parser = Parser::new(&tokens, names);
        let expression = parser.expression()?;
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

pub(super) fn undefined(name: &str, at: usize) -> Mistake {
    Mistake::new(
        at,
        format!("nothing has set {name} yet; use \\set above, or give --variable {name}=VALUE"),
    )
}
