//! Virtual disks as a user has them: the program, real FUSE mounts, its control socket.

mod bytes;
mod control;
mod cut;
mod faults;
mod hostile;
mod logs;
mod loops;
mod promises;
mod refusals;
mod served;
mod timing;
mod trouble;
