//! Bytecode of what every client loads: the script, its modules and the prelude.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlua::{ChunkMode, Function, Lua};

/// Texts that have been compiled, by their names. A client compiles in its own state only what is not
/// here yet.
#[derive(Debug, Default)]
pub(super) struct Compiled(Mutex<HashMap<String, Arc<Chunk>>>);

#[derive(Debug)]
struct Chunk {
    text: Vec<u8>,
    code: Vec<u8>,
}

impl Compiled {
    /// The function that a text makes. The name begins as Lua wants it: `@` for a file.
    pub(super) fn load(&self, lua: &Lua, name: &str, text: &[u8]) -> mlua::Result<Function> {
        if let Some(known) = self.find(name).filter(|known| known.text == text) {
            return lua.load(&known.code).set_name(name).into_function();
        }
        // Text alone: a file with bytecode could do anything to this program.
        let chunk = lua.load(text).set_name(name).set_mode(ChunkMode::Text);
        let function = chunk.into_function()?;
        let chunk = Chunk {
            text: text.to_vec(),
            code: function.dump(false),
        };
        self.all().insert(name.to_owned(), Arc::new(chunk));
        Ok(function)
    }

    fn find(&self, name: &str) -> Option<Arc<Chunk>> {
        self.all().get(name).cloned()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Chunk>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
