//! Garbage collection: each die wins back its emptiest block, page by page, at the pace at which the
//! host fills another, so that no write and no read waits for a whole block.

use super::Flash;
use super::blocks::Stream;
use super::die::{Operation, Victim};
use super::geometry::LOW_FREE_BLOCKS;
use crate::request::Nanos;

impl Flash {
    /// A page of the host's takes place: collection owes its share.
    pub(super) fn owe(&mut self, number: u32) {
        self.choose_victim(number);
        let page = f64::from(self.geometry.units_per_page);
        let die = &mut self.dies[number as usize];
        if let Some(victim) = &die.victim {
            die.debt += page * victim.pace;
        }
    }

    /// Takes the next block to collect, once free blocks are few.
    fn choose_victim(&mut self, number: u32) {
        let die = &mut self.dies[number as usize];
        if die.victim.is_some() || self.translation.blocks.free_blocks(number) >= LOW_FREE_BLOCKS {
            return;
        }
        let Some(block) = self.translation.blocks.take_victim(number) else {
            return;
        };
        let units = f64::from(self.geometry.units_per_block);
        let valid = f64::from(self.translation.blocks.get(block).valid);
        // Pages with anything in them, if the valid units lie at random.
        let per_page = f64::from(self.geometry.units_per_page);
        let pages =
            f64::from(self.geometry.pages_per_block) * (1.0 - (1.0 - valid / units).powf(per_page));
        die.victim = Some(Victim {
            block,
            cursor: 0,
            reads_per_unit: if valid > 0.0 { pages / valid } else { 0.0 },
            pace: valid / (units - valid),
        });
    }

    /// Does the next step of a collection that is due: because a page's worth is owed, because nothing
    /// is left in the block, or because the host's page has no room otherwise.
    pub(super) fn start_collecting(&mut self, now: Nanos, number: u32) -> bool {
        let starved = !self.translation.blocks.has_room(number, Stream::Host);
        if starved {
            self.choose_victim(number);
        }
        let die = &mut self.dies[number as usize];
        let Some(victim) = &mut die.victim else {
            return false;
        };
        let block = self.translation.blocks.get(victim.block);
        if block.valid == 0 {
            self.start(now, number, Operation::Erase, self.geometry.erase_ns);
            return true;
        }
        let page = self.geometry.units_per_page;
        if die.debt < f64::from(page.min(block.valid)) && !starved {
            return false;
        }
        let moving = &mut die.moving;
        moving.units.clear();
        while moving.units.len() < page as usize {
            let next = self
                .translation
                .next_valid(victim.block, &mut victim.cursor);
            let Some(found) = next else { break };
            moving.units.push(found);
        }
        moving.anonymous = block.anonymous.min(page - moving.units.len() as u32);
        let found = f64::from(moving.units.len() as u32 + moving.anonymous);
        let reads_ns = found * victim.reads_per_unit * self.geometry.mean_read_ns;
        let takes_ns = self.geometry.program_ns + reads_ns.round() as Nanos;
        self.start(now, number, Operation::Collect, takes_ns);
        true
    }

    /// A page was moved.
    pub(super) fn collected(&mut self, number: u32) {
        let die = &mut self.dies[number as usize];
        let victim = die.victim.as_ref().expect("a block under collection").block;
        let moving = std::mem::take(&mut die.moving);
        let found = moving.units.len() as u32 + moving.anonymous;
        die.debt = (die.debt - f64::from(found)).max(0.0);
        for &(unit, from) in &moving.units {
            self.translation.move_unit(number, victim, unit, from);
        }
        self.translation
            .move_anonymous(number, victim, moving.anonymous);
        let padding = self.geometry.units_per_page - found;
        self.translation.pad(number, Stream::Collected, padding);
        self.tally.pages_collected += 1;
        self.tally.units_collected += u64::from(found);
        self.tally.units_padded += u64::from(padding);
        self.tally.programs += 1;
        self.dies[number as usize].moving = moving;
    }

    pub(super) fn erased(&mut self, number: u32) {
        let victim = self.dies[number as usize].victim.take();
        self.translation
            .blocks
            .erase(victim.expect("a block under collection").block);
        self.tally.erases += 1;
    }
}
