//! `require_pin`, `signed_by` and `[plugins.NAME]`: which external plugins are accepted, and what each may request.

use std::collections::BTreeSet;
use std::fmt;

use agentbay_domain::{Grant, PluginId, PluginLimits, Trust, Wasi};

use super::limits;
use super::section::{Item, Section};

/// Reads the trust settings of `[plugins]`. Limits that a plugin does not set are `all`'s.
pub(super) fn read(section: &mut Section<'_>, all: PluginLimits) -> Trust {
    let require_pin = section.take("require_pin").and_then(|item| item.flag()).unwrap_or(false);
    let signers = section.take("signed_by").and_then(|item| item.list()).into_iter().flatten();
    let signers = signers.filter_map(|item| read_as(&item)).collect();
    let grants = section.tables().filter_map(|(name, item)| {
        let id = PluginId::try_from(name.to_owned()).inspect_err(|error| item.fault(error.to_string()));
        let grant = grant(item.section()?, all);
        Some((id.ok()?, grant))
    });
    Trust { require_pin, signers, grants: grants.collect() }
}

fn grant(mut section: Section<'_>, all: PluginLimits) -> Grant {
    let grant = Grant {
        programs: section.take("programs").and_then(|item| names(&item)),
        env: section.take("env").and_then(|item| names(&item)),
        home_files: section.take("home_files").and_then(|item| names(&item)),
        sha256: section.take("sha256").and_then(|item| read_as(&item)),
        wasi: section.take("wasi").and_then(|item| wasi(&item)).unwrap_or_default(),
        limits: limits::read_for_plugin(section.section("limits"), all),
    };
    section.finish();
    grant
}

fn names(item: &Item<'_>) -> Option<BTreeSet<String>> {
    Some(item.list()?.filter_map(|name| name.full_text().map(str::to_owned)).collect())
}

fn read_as<T: TryFrom<String, Error: fmt::Display>>(item: &Item<'_>) -> Option<T> {
    let value = T::try_from(item.full_text()?.to_owned());
    value.inspect_err(|error| item.fault(error.to_string())).ok()
}

fn wasi(item: &Item<'_>) -> Option<Wasi> {
    match item.text()? {
        "refuse" => Some(Wasi::Refuse),
        "trap" => Some(Wasi::Trap),
        other => {
            item.fault(format!("{other:?} is not one of \"refuse\", \"trap\""));
            None
        }
    }
}
