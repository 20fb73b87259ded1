//! What Trunkline's tests share and nobody else gets: the bodies of the fuzz targets, which the
//! ordinary tests run too, and a network to run over.

pub mod fuzz;
#[cfg(target_os = "linux")]
pub mod netlab;
pub mod sim;
