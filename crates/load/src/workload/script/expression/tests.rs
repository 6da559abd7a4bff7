//! Values, as pgbench has them, and mistakes with their places.

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
        ("", 0, "ends before a value"),
        ("1 +", 3, "ends before a value"),
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
        (") + 1", 0, "instead of a value"),
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
