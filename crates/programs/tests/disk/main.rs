//! Virtual disks as a user has them: the program, real FUSE mounts, its control socket.

mod bytes;
mod control;
mod loops;
mod refusals;
mod served;
mod timing;
mod trouble;
