//! The budgets that the connections of a server share, and servers among each other where they are given one.

use crate::config::ServerConfig;
use std::sync::Arc;
use trunkline_core::credit::BudgetShare;

/// The memory that servers share: what their receive windows borrow
/// ([`Windows::memory_budget`](crate::core::limits::Windows::memory_budget)), and what waits for clients that do not read
/// ([`Windows::send_budget`](crate::core::limits::Windows::send_budget)). Without one each server has its own, so that a process with
/// several may hold the sum.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    pub(in crate::server) windows: Arc<BudgetShare>,
    pub(in crate::server) sending: Arc<BudgetShare>,
}

impl MemoryBudget {
    /// A budget of the sizes that `config` has.
    pub fn new(config: &ServerConfig) -> Self {
        let windows = &config.windows;
        Self {
            windows: Arc::new(BudgetShare::new(windows.memory_budget)),
            sending: Arc::new(BudgetShare::new(windows.send_budget)),
        }
    }
}
