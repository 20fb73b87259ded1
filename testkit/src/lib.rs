//! Shared, unpublished parts of Trunkline's tests: the bodies of the fuzz targets, which the
//! ordinary tests run too, the simulator, and a network to run over.

pub mod fuzz;
#[cfg(target_os = "linux")]
pub mod netlab;
pub mod sim;
