//! The objects that the files of a repository define, whether or not a cluster receives them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::distinct::written_position;
use crate::base::set_aside::is_set_aside;
use crate::flux::Repo;
use crate::kube::{Object, ObjectId};
use crate::text::folder_of;

/// The objects of a repository by identity, collected at the first search.
pub(crate) struct WrittenObjects<'a> {
    repo: &'a Repo,
    /// `None` for an identity that several directories define.
    by_id: OnceLock<BTreeMap<ObjectId<'a>, Option<&'a Object>>>,
}

impl<'a> WrittenObjects<'a> {
    pub(crate) fn of(repo: &'a Repo) -> Self {
        Self { repo, by_id: OnceLock::new() }
    }

    /// The object, if a single directory defines it and is not set aside.
    pub(crate) fn find(&self, id: ObjectId<'_>) -> Option<&'a Object> {
        let by_id = self.by_id.get_or_init(|| {
            let mut by_id: BTreeMap<ObjectId<'a>, Option<&'a Object>> = BTreeMap::new();
            let built = self.repo.objects.iter().map(|built| &built.object);
            for object in built.chain(&self.repo.aside) {
                let (root, path, _) = written_position(object);
                if root.is_some() || is_set_aside(path, |_| false) {
                    continue;
                }
                let known = by_id.entry(ObjectId::of(object)).or_insert(Some(object));
                if known.is_some_and(|known| folder_of(written_position(known).1) != folder_of(path)) {
                    *known = None;
                }
            }
            by_id
        });
        by_id.get(&id).copied().flatten()
    }
}
