//! The pages, pictures and tables of the measurements.

pub(crate) mod docs;
pub(crate) mod figures;
pub(crate) mod node;
pub(crate) mod plot;
pub(crate) mod readme;
pub(crate) mod report;
pub(crate) mod runs;
