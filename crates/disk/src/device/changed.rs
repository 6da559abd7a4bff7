//! A device with other values than its file's: `ebs-gp3?iops.fixed=16000&mib_per_s=1000`.

use toml::{Table, Value};

use super::{Device, DeviceError};

/// The source of a value that stands beside the device's name.
const SOURCE: &str = "chosen, beside the device's name";

/// Splits what names a device into its name and the changes, `KEY=VALUE` with `&` between them.
pub(super) fn split(words: &str) -> (&str, Option<&str>) {
    match words.split_once('?') {
        Some((name, changes)) => (name, Some(changes)),
        None => (words, None),
    }
}

/// Reads a device from the text of its file, with these changes. The published figures are of the device as
/// it was, and are left out.
pub(super) fn read(text: &str, changes: &str, origin: &str) -> Result<Device, DeviceError> {
    let refused = |why: &str| DeviceError(format!("{origin}: {why}"));
    let mut tree: Table = toml::from_str(text).map_err(|error| refused(&error.to_string()))?;
    tree.remove("published");
    let kinds = tree.get_mut("device").and_then(Value::as_table_mut);
    let parameters = kinds.and_then(|kinds| kinds.iter_mut().next()?.1.as_table_mut());
    let parameters = parameters.ok_or_else(|| refused("it has no values of its own to change"))?;
    for change in changes.split('&') {
        let (key, value) = change
            .split_once('=')
            .ok_or_else(|| refused(&format!("`{change}` is no change: write KEY=VALUE")))?;
        set(parameters, key, value).map_err(|why| refused(&why))?;
    }
    let mut device: Device = tree
        .try_into()
        .map_err(|error| refused(&format!("with {changes}: {error}")))?;
    device.title = format!("{}, with {}", device.title, changes.replace('&', ", "));
    Ok(device)
}

fn set(parameters: &mut Table, key: &str, value: &str) -> Result<(), String> {
    let (above, last) = key.rsplit_once('.').unwrap_or(("", key));
    let mut table = parameters;
    for part in above.split_terminator('.') {
        let below = table.get_mut(part).and_then(Value::as_table_mut);
        table = below.ok_or_else(|| format!("the device has no `{key}` to change"))?;
    }
    // What is no number and no `true` is one of a kind's own words.
    let value = toml::from_str::<Table>(&format!("value = {value}"))
        .ok()
        .and_then(|mut read| read.remove("value"))
        .unwrap_or_else(|| Value::from(value));
    let figure = Table::from_iter([
        ("value".to_owned(), value),
        ("source".to_owned(), Value::from(SOURCE)),
    ]);
    table.insert(last.to_owned(), Value::Table(figure));
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::device::{Model, open};

    fn refusal(words: &str) -> String {
        open(words).expect_err(words).to_string()
    }

    #[test]
    fn values_beside_the_name_take_the_place_of_the_files() {
        let device = open("ebs-gp3?iops.fixed=16000&mib_per_s=1000.5").expect("two changes");
        let Model::Cloud(cloud) = &device.device else {
            panic!("gp3 is a cloud's")
        };
        assert!((cloud.base_iops() - 16_000.0).abs() < 1e-9);
        assert!((cloud.mib_per_s.value - 1000.5).abs() < 1e-9);
        assert!(
            (cloud.write_median_us.value - 1000.0).abs() < 1e-9,
            "as in the file"
        );
        assert!(
            device
                .title
                .ends_with("with iops.fixed=16000, mib_per_s=1000.5")
        );
        assert!(device.published.is_empty());
    }

    #[test]
    fn a_word_is_a_value_and_a_default_can_be_changed() {
        let device = open("laptop-ssd-2012?flush=ignored").expect("a word of the kind");
        assert!(matches!(device.device, Model::Flash(_)));
        open("ebs-gp3?flush_us=3").expect("the file leaves it to its default");
    }

    #[test]
    fn what_the_device_does_not_have_is_refused() {
        assert!(refusal("dial?flush_ms=3").contains("unknown field `flush_ms`"));
        assert!(refusal("dial?flush_us").contains("write KEY=VALUE"));
        assert!(refusal("dial?burst.iops=3").contains("no `burst.iops`"));
        assert!(refusal("dial?flush_us=-1").contains("flush_us is -1"));
        assert!(refusal("dial?flush_us=fast").contains("flush_us"));
        assert!(refusal("floppy?flush_us=3").contains("there is no device `floppy`"));
    }
}
