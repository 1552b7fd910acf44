//! Provides the tables that are expensive to build. The code that compiles a Spec requests each of these tables here. A
//! table is either read from a native file or built; if a native file is being written, a built table is also added to
//! this file.

use bytemuck::{AnyBitPattern, NoUninit};
use polytok_memory::Copied;

use super::{Image, Sections};
use crate::error::{Error, Result};
use crate::table::Table;

/// A compiled table that can be stored in a file.
pub trait Stored: Sized {
    /// Writes the sections of the table.
    fn write(&self, out: &mut PartWriter);
    /// Reads the table from the sections of a file. The table must be safe to use, whatever the sections contain.
    fn read(part: &FilePart) -> Result<Self>;
}

/// The source of the tables of one tokenizer.
#[derive(Default)]
pub struct Tables {
    image: Option<Image>,
    sections: Option<Sections>,
}

impl Tables {
    /// Returns a source that reads the tables from a file.
    pub fn from_image(image: Image) -> Tables {
        Tables { image: Some(image), sections: None }
    }

    /// Returns a source that builds the tables and collects them for a new file.
    pub fn with_sections() -> Tables {
        Tables { image: None, sections: Some(Sections::default()) }
    }

    /// Reports whether tables are collected for a new file, so that small tables are worth their cost.
    pub fn collects_tables(&self) -> bool {
        self.sections.is_some()
    }

    /// Reports whether tables are collected for a new file or read from a file.
    pub fn are_stored(&self) -> bool {
        self.collects_tables() || self.image.as_ref().is_some_and(Image::has_tables)
    }

    /// Returns the table with this name: reads the table from the file, or builds it.
    pub fn get<S: Stored>(&mut self, name: &str, build: impl FnOnce() -> Result<S>) -> Result<S> {
        if let Some(image) = self.image.as_ref().filter(|image| image.has_tables()) {
            return S::read(&FilePart { image, name: name.to_owned() });
        }
        let built_table = build()?;
        self.collect(name, &built_table);
        Ok(built_table)
    }

    /// Like `get`, for a table that is part of the file format, so that the version of the compiled tables does not
    /// matter.
    pub fn get_unversioned<S: Stored>(&mut self, name: &str, build: impl FnOnce() -> Result<S>) -> Result<S> {
        match &self.image {
            Some(image) => S::read(&FilePart { image, name: name.to_owned() }),
            None => {
                let built_table = build()?;
                self.collect(name, &built_table);
                Ok(built_table)
            }
        }
    }

    fn collect<S: Stored>(&mut self, name: &str, built_table: &S) {
        if let Some(sections) = &mut self.sections {
            built_table.write(&mut PartWriter { sections, name: name.to_owned() });
        }
    }

    /// Returns the collected sections.
    pub fn finish(self) -> Sections {
        self.sections.unwrap_or_default()
    }
}

/// The sections of one table in a file: the sections whose names start with the name of the table.
pub struct FilePart<'a> {
    image: &'a Image,
    name: String,
}

impl FilePart<'_> {
    /// Returns the sections of a table that is a part of this table.
    pub fn part(&self, name: &str) -> FilePart<'_> {
        FilePart { image: self.image, name: self.full_name(name) }
    }

    /// Returns the array with this name.
    pub fn table<T: AnyBitPattern + Send + Sync>(&self, name: &str) -> Result<Table<T>> {
        self.optional_table(name)?.ok_or_else(|| self.section_error(name, "are missing"))
    }

    /// Returns the array with this name, or `None` if the array is missing.
    pub fn optional_table<T: AnyBitPattern + Send + Sync>(&self, name: &str) -> Result<Option<Table<T>>> {
        self.image.table(&self.full_name(name)).transpose()
    }

    /// Returns the number in an array of length 1.
    pub fn number<T: AnyBitPattern + Send + Sync>(&self, name: &str) -> Result<T> {
        match *self.table::<T>(name)? {
            [number] => Ok(number),
            _ => Err(self.section_error(name, "are not a single number")),
        }
    }

    /// Returns the error for a section with wrong contents.
    pub fn section_error(&self, name: &str, what: &str) -> Error {
        Error::Format(format!("the bytes of section {} {what}; write the file again", self.full_name(name)))
    }

    fn full_name(&self, name: &str) -> String {
        format!("{}.{name}", self.name)
    }
}

/// A writer of the sections of one table.
pub struct PartWriter<'a> {
    sections: &'a mut Sections,
    name: String,
}

impl PartWriter<'_> {
    /// Returns a writer for a table that is a part of this table.
    pub fn part(&mut self, name: &str) -> PartWriter<'_> {
        let name = format!("{}.{name}", self.name);
        PartWriter { sections: self.sections, name }
    }

    /// Adds an array as a section.
    pub fn table<T: NoUninit>(&mut self, name: &str, items: &[T]) {
        self.sections.push(&format!("{}.{name}", self.name), bytemuck::cast_slice(items).checked_to_vec());
    }
}
