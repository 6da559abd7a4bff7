//! The engine with a server and a workload of our own, which do what they are told to.

mod connections;
mod endings;
mod open_loop;
mod phases;
mod refusals;
mod run;
mod server;
mod set_up;
mod steps;
mod waits;
