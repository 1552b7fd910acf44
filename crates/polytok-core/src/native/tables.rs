//! Where compiling gets its big tables from: there is one way to compile a Spec, and what is expensive in it is asked for
//! here. It is taken out of a file, or built, and kept for a file that is being written.

use bytemuck::{AnyBitPattern, NoUninit};

use super::{Image, Sections};
use crate::error::{Error, Result};
use crate::table::Table;

/// Something compiled that can lie in a file.
pub trait Stored: Sized {
    /// Adds its sections.
    fn write(&self, out: &mut PartWriter);
    /// Reads them. Whatever they hold, what comes out must be safe to use.
    fn read(part: &FilePart) -> Result<Self>;
}

/// The source of tables.
#[derive(Default)]
pub struct Tables {
    image: Option<Image>,
    sections: Option<Sections>,
}

impl Tables {
    /// Tables of a file.
    pub fn of(image: Image) -> Tables {
        Tables { image: Some(image), sections: None }
    }

    /// Tables that are built and kept.
    pub fn kept() -> Tables {
        Tables { image: None, sections: Some(Sections::default()) }
    }

    /// Whether tables are kept, so that it pays to make them small.
    pub fn are_kept(&self) -> bool {
        self.sections.is_some()
    }

    /// Whether tables are kept, or those of a file are there.
    pub fn are_stored(&self) -> bool {
        self.are_kept() || self.image.as_ref().is_some_and(Image::has_tables)
    }

    /// The file's part of this name, or what `build` gives.
    pub fn get<S: Stored>(&mut self, name: &str, build: impl FnOnce() -> Result<S>) -> Result<S> {
        if let Some(image) = self.image.as_ref().filter(|image| image.has_tables()) {
            return S::read(&FilePart { image, name: name.to_owned() });
        }
        let built = build()?;
        self.keep(name, &built);
        Ok(built)
    }

    /// The same for what belongs to the format, whatever the version of the tables.
    pub fn get_always<S: Stored>(&mut self, name: &str, build: impl FnOnce() -> Result<S>) -> Result<S> {
        match &self.image {
            Some(image) => S::read(&FilePart { image, name: name.to_owned() }),
            None => {
                let built = build()?;
                self.keep(name, &built);
                Ok(built)
            }
        }
    }

    fn keep<S: Stored>(&mut self, name: &str, built: &S) {
        if let Some(sections) = &mut self.sections {
            built.write(&mut PartWriter { sections, name: name.to_owned() });
        }
    }

    /// The sections that were kept.
    pub fn finish(self) -> Sections {
        self.sections.unwrap_or_default()
    }
}

/// A part of a file: sections whose names start with its own.
pub struct FilePart<'a> {
    image: &'a Image,
    name: String,
}

impl FilePart<'_> {
    /// A part of the part.
    pub fn part(&self, name: &str) -> FilePart<'_> {
        FilePart { image: self.image, name: self.full(name) }
    }

    /// An array of it.
    pub fn table<T: AnyBitPattern + Send + Sync>(&self, name: &str) -> Result<Table<T>> {
        self.optional(name)?.ok_or_else(|| self.wrong(name, "are missing"))
    }

    /// An array that need not be there.
    pub fn optional<T: AnyBitPattern + Send + Sync>(&self, name: &str) -> Result<Option<Table<T>>> {
        self.image.table(&self.full(name)).transpose()
    }

    /// An array of one number.
    pub fn number<T: AnyBitPattern + Send + Sync>(&self, name: &str) -> Result<T> {
        match *self.table::<T>(name)? {
            [number] => Ok(number),
            _ => Err(self.wrong(name, "are not one number")),
        }
    }

    /// The error of a file whose sections do not fit together.
    pub fn wrong(&self, name: &str, what: &str) -> Error {
        Error::Format(format!("the bytes of section {} {what}: write the file anew", self.full(name)))
    }

    fn full(&self, name: &str) -> String {
        format!("{}.{name}", self.name)
    }
}

/// A part of a file to be.
pub struct PartWriter<'a> {
    sections: &'a mut Sections,
    name: String,
}

impl PartWriter<'_> {
    /// A part of the part.
    pub fn part(&mut self, name: &str) -> PartWriter<'_> {
        let name = format!("{}.{name}", self.name);
        PartWriter { sections: self.sections, name }
    }

    /// An array of it.
    pub fn table<T: NoUninit>(&mut self, name: &str, items: &[T]) {
        self.sections.push(&format!("{}.{name}", self.name), bytemuck::cast_slice(items).to_vec());
    }
}
