//! Histories of requests and cuts, and contents that fail.

mod histories;
