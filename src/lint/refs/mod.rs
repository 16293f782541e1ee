//! References from objects to other objects.

pub(super) mod backend;
pub(super) mod dependency;
pub(super) mod reference;
pub(super) mod copied_data;
pub(super) mod health_check;
pub(super) mod image_repository;
pub(super) mod notification;
pub(super) mod source_reference;
pub(super) mod values_reference;
pub(super) mod waiting;
pub(super) mod all;
