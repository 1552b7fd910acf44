//! The engine's vocabulary: maps ids to bytes, scores and kinds.

pub mod dictionary;
mod row;

use hashbrown::HashMap;
use polytok_memory::{self as memory, Collect, Copied, Grow, GrowMap};

use crate::error::{Error, Result};
use crate::native::{FilePart, PartWriter, Stored};
use crate::spec::{Kind, VocabColumns};
use crate::table::Table;
use crate::token_id::TokenId;
pub use row::Row;

/// A checked vocabulary. Rows are in the order of the file. Ids can have gaps (as in tiktoken's p50k_base) and can be
/// in another order than the rows.
#[derive(Debug)]
pub struct Vocab {
    columns: VocabTables,
    rows: RowOfId,
    size: u32,
    /// The rows whose kind or active kind is not Normal, which are usually few.
    odd_rows: Vec<Row>,
}

/// The columns of a vocabulary, either from a [`VocabColumns`] or from a file.
#[derive(Debug)]
struct VocabTables {
    blob: Table<u8>,
    offsets: Table<u32>,
    ids: Table<TokenId>,
    scores: Table<f32>,
    wide_scores: Option<Table<f64>>,
    kinds: Vec<Kind>,
    active_kinds: Option<Vec<Kind>>,
}

/// The row of each id. If the ids have large gaps, the map is sparse, so that a hostile file with one very large id
/// does not use much memory.
#[derive(Debug)]
enum RowOfId {
    EqualToRow,
    /// A list of rows with an id as the index; unused ids have [`NO_ROW`].
    Dense(Vec<Row>),
    Sparse(HashMap<TokenId, Row>),
}

/// The row of an unused id in the dense table.
const NO_ROW: Row = Row(u32::MAX);

impl Vocab {
    /// Checks the columns against each other and indexes the ids.
    pub fn new(columns: VocabColumns) -> Result<Vocab> {
        Vocab::check(VocabTables {
            blob: columns.blob.into(),
            offsets: columns.offsets.into(),
            ids: TokenId::vec_of(columns.ids).into(),
            scores: columns.scores.into(),
            wide_scores: columns.wide_scores.map(Table::from),
            kinds: columns.kinds,
            active_kinds: columns.active_kinds,
        })
    }

    fn check(columns: VocabTables) -> Result<Vocab> {
        let row_count = columns.ids.len();
        let lengths_agree = columns.offsets.len() == row_count + 1
            && columns.scores.len() == row_count
            && columns.wide_scores.as_ref().is_none_or(|scores| scores.len() == row_count)
            && columns.kinds.len() == row_count
            && columns.active_kinds.as_ref().is_none_or(|kinds| kinds.len() == row_count);
        if !lengths_agree {
            return Err(Error::Spec("vocab: the columns have different lengths".into()));
        }
        let offsets = &columns.offsets;
        // All offsets are checked without an early exit, so that the compiler can vectorize the loop.
        let offsets_rise = offsets.iter().zip(&offsets[1..]).fold(true, |rises, (start, end)| rises & (start <= end));
        let are_ascending = offsets[0] == 0 && offsets_rise;
        if !are_ascending || offsets.last().map(|&end| end as usize) != Some(columns.blob.len()) {
            return Err(Error::Spec("vocab: the offsets must rise from 0 to the length of the blob".into()));
        }
        let rows = index_ids(&columns.ids)?;
        let size = columns.ids.iter().fold(0, |size, &id| size.max(id.0 + 1));
        let is_odd = |kinds: &[Kind], row: Row| kinds[row.index()] != Kind::Normal;
        let collect_odd_rows =
            |kinds: &[Kind]| (0..row_count as u32).map(Row).filter(|&row| is_odd(kinds, row)).checked_collect();
        let mut odd_rows = collect_odd_rows(&columns.kinds);
        if let Some(active_kinds) = &columns.active_kinds {
            odd_rows.checked_extend(collect_odd_rows(active_kinds));
            odd_rows.sort_unstable();
            odd_rows.dedup();
        }
        Ok(Vocab { columns, rows, size, odd_rows })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.columns.ids.len()
    }

    /// Returns all rows, in order.
    #[inline]
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row> + ExactSizeIterator + Clone {
        (0..self.len() as u32).map(Row)
    }

    /// Reports whether the vocabulary has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the largest id plus one, which is more than the number of rows if ids have gaps.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Returns the bytes of a row.
    #[inline]
    pub fn bytes(&self, row: Row) -> &[u8] {
        let offsets = &self.columns.offsets;
        &self.columns.blob[offsets[row.index()] as usize..offsets[row.index() + 1] as usize]
    }

    /// Returns the bytes of a row from an untrusted table, or `None` if the row does not exist.
    #[inline]
    pub fn get_bytes(&self, row: Row) -> Option<&[u8]> {
        let row = row.index();
        let (&start, &end) = (self.columns.offsets.get(row)?, self.columns.offsets.get(row + 1)?);
        self.columns.blob.get(start as usize..end as usize)
    }

    /// Returns the concatenated bytes of all rows.
    pub fn blob(&self) -> &[u8] {
        &self.columns.blob
    }

    /// Returns the length of the longest row.
    pub fn max_entry_len(&self) -> usize {
        let offsets = &self.columns.offsets;
        offsets.iter().zip(&offsets[1..]).fold(0, |max_len, (start, end)| max_len.max(end - start)) as usize
    }

    /// Returns the id of a row.
    #[inline]
    pub fn id(&self, row: Row) -> TokenId {
        match self.rows {
            // If ids equal row numbers, the id is computed, because reading the column of ids could cause a cache miss.
            RowOfId::EqualToRow => TokenId(row.0),
            _ => self.columns.ids[row.index()],
        }
    }

    /// Returns the score of a row.
    #[inline]
    pub fn score(&self, row: Row) -> f32 {
        self.columns.scores[row.index()]
    }

    /// Returns the score of a row in double precision.
    #[inline]
    pub fn wide_score(&self, row: Row) -> f64 {
        self.columns.wide_scores.as_ref().map_or_else(|| self.score(row) as f64, |scores| scores[row.index()])
    }

    /// Returns the kind of a row in the file, from which tables are built.
    #[inline]
    pub fn kind(&self, row: Row) -> Kind {
        self.columns.kinds[row.index()]
    }

    /// Returns the kind that a row has after vocabulary restriction. This kind decides whether the row is emitted and
    /// how the row is decoded.
    #[inline]
    pub fn active_kind(&self, row: Row) -> Kind {
        self.columns.active_kinds.as_ref().map_or_else(|| self.kind(row), |kinds| kinds[row.index()])
    }

    /// Returns the rows whose kind or active kind is not Normal, in order.
    pub fn odd_rows(&self) -> impl Iterator<Item = Row> + Clone {
        self.odd_rows.iter().copied()
    }

    /// Returns the rows of a kind other than Normal.
    pub fn rows_of(&self, kind: Kind) -> impl Iterator<Item = Row> + Clone {
        self.odd_rows().filter(move |&row| self.kind(row) == kind)
    }

    /// Reports whether the id of every row equals the row number.
    #[inline]
    pub fn is_in_order(&self) -> bool {
        matches!(self.rows, RowOfId::EqualToRow)
    }

    /// Returns the row of an id.
    #[inline]
    pub fn row(&self, id: TokenId) -> Option<Row> {
        match &self.rows {
            RowOfId::EqualToRow => (id.index() < self.len()).then_some(Row(id.0)),
            RowOfId::Dense(rows) => rows.get(id.index()).copied().filter(|&row| row != NO_ROW),
            RowOfId::Sparse(rows) => rows.get(&id).copied(),
        }
    }
}

impl Stored for Vocab {
    fn write(&self, out: &mut PartWriter) {
        let VocabTables { blob, offsets, ids, scores, wide_scores, kinds, active_kinds } = &self.columns;
        let numbers = |kinds: &[Kind]| -> Vec<u8> { kinds.iter().map(|&kind| kind as u8).checked_collect() };
        out.table("blob", blob);
        out.table("offsets", offsets);
        out.table("ids", ids);
        out.table("scores", scores);
        if let Some(scores) = wide_scores {
            out.table("wide_scores", scores);
        }
        out.table("kinds", &numbers(kinds));
        if let Some(kinds) = active_kinds {
            out.table("active_kinds", &numbers(kinds));
        }
    }

    fn read(part: &FilePart) -> Result<Vocab> {
        // The kinds are copied, so that a change of the file cannot make the kinds invalid.
        let kinds = |numbers: Table<u8>| match bytemuck::checked::try_cast_slice::<u8, Kind>(&numbers) {
            Ok(kinds) => Ok(kinds.checked_to_vec()),
            Err(_) => Err(part.section_error("kinds", "are not 1 to 6")),
        };
        Vocab::check(VocabTables {
            blob: part.table("blob")?,
            offsets: part.table("offsets")?,
            ids: part.table("ids")?,
            scores: part.table("scores")?,
            wide_scores: part.optional_table("wide_scores")?,
            kinds: kinds(part.table("kinds")?)?,
            active_kinds: part.optional_table("active_kinds")?.map(kinds).transpose()?,
        })
    }
}

fn index_ids(ids: &[TokenId]) -> Result<RowOfId> {
    if (0..).zip(ids).fold(true, |is_equal, (row, &id)| is_equal & (row == id.0)) {
        return Ok(RowOfId::EqualToRow);
    }
    let duplicate_error = |id: TokenId| Error::Spec(format!("vocab: two entries have the id {id}"));
    let max_id = ids.iter().copied().max().unwrap_or_default();
    if max_id == TokenId::UNKNOWN {
        return Err(Error::Spec(format!("vocab: id {max_id} is too large")));
    }
    if max_id.index() <= 4 * ids.len() + 1024 {
        let mut rows = memory::filled(NO_ROW, max_id.index() + 1);
        for (row, &id) in (0..).map(Row).zip(ids) {
            if std::mem::replace(&mut rows[id.index()], row) != NO_ROW {
                return Err(duplicate_error(id));
            }
        }
        return Ok(RowOfId::Dense(rows));
    }
    let mut rows = HashMap::default();
    for (row, &id) in (0..).map(Row).zip(ids) {
        if rows.checked_insert(id, row).is_some() {
            return Err(duplicate_error(id));
        }
    }
    Ok(RowOfId::Sparse(rows))
}
