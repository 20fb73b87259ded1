//! What Trunkline's tests share and nobody else gets: the bodies of the fuzz targets, which the
//! ordinary tests run too.

pub mod fuzz;
