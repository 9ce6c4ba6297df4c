//! One file for each supported line of the contract: its generated types, and their way into the domain's.

pub(super) mod v0_1;
