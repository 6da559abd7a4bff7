//! Which types a variable may have: a bound parameter keeps its type from execution to execution.

use super::expression::Expression;
use super::function::Function;
use super::parser::{Parsed, Step};
use super::value::Value;

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Types(u8);

const NULL: Types = Types(1);
const BOOL: Types = Types(2);
const INT: Types = Types(4);
const DOUBLE: Types = Types(8);

impl Types {
    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether its values are sent as doubles, integers too.
    pub(super) fn may_be_double(self) -> bool {
        self.has(DOUBLE)
    }

    pub(super) fn may_be_null(self) -> bool {
        self.has(NULL)
    }
}

impl From<Value> for Types {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => NULL,
            Value::Bool(_) => BOOL,
            Value::Int(_) => INT,
            Value::Double(_) => DOUBLE,
        }
    }
}

/// The types that each variable may have in the course of a run: those it begins with and those of
/// all its assignments, in which other variables stand, until nothing is added any more.
pub(super) fn infer(initial: &[Option<Value>], scripts: &[Parsed]) -> Vec<Types> {
    let begun = |value: &Option<Value>| value.map_or(Types::default(), Types::from);
    let mut types: Vec<Types> = initial.iter().map(begun).collect();
    loop {
        let before = types.clone();
        for step in scripts.iter().flat_map(|script| &script.steps) {
            if let Step::Set { slot, to } = step {
                types[*slot] = types[*slot].with(of(to, &types));
            }
        }
        if types == before {
            return types;
        }
    }
}

fn of(expression: &Expression, variables: &[Types]) -> Types {
    match expression {
        Expression::Constant(value) => (*value).into(),
        Expression::Variable { slot, .. } => variables[*slot],
        Expression::Call {
            function,
            arguments,
            ..
        } => of_call(*function, arguments, variables),
        Expression::And(sides) | Expression::Or(sides) => {
            BOOL.with(null_of(sides.iter(), variables))
        }
        Expression::Case {
            branches,
            otherwise,
        } => branches
            .iter()
            .fold(of(otherwise, variables), |types, (_, result)| {
                types.with(of(result, variables))
            }),
    }
}

fn of_call(function: Function, arguments: &[Expression], variables: &[Types]) -> Types {
    let nullable = null_of(arguments.iter(), variables);
    match function {
        Function::IsNull | Function::IsTrue | Function::IsFalse => BOOL,
        Function::Not
        | Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessOrEqual => BOOL.with(nullable),
        Function::Double
        | Function::Exp
        | Function::Ln
        | Function::Pi
        | Function::Power
        | Function::Sqrt => DOUBLE.with(nullable),
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Negate
        | Function::Abs
        | Function::Greatest
        | Function::Least => arguments.iter().fold(nullable, |types, argument| {
            types.with(of(argument, variables))
        }),
        _ => INT.with(nullable),
    }
}

/// NULL, if one of them may be.
fn null_of<'a>(expressions: impl Iterator<Item = &'a Expression>, variables: &[Types]) -> Types {
    let mut types = expressions.map(|expression| of(expression, variables));
    if types.any(Types::may_be_null) {
        NULL
    } else {
        Types::default()
    }
}
