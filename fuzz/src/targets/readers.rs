//! The parsers of vocabulary files. What a parser accepts, its writer must write so that it is read again.

use polytok_core::spec::VocabColumns;
use polytok_core::wire;
use polytok_core::wire::huggingface::VocabParts;
use polytok_core::wire::tekken::Layout;

use crate::choices::Choices;

/// The rows of a vocabulary as data that can be compared.
fn rows(columns: &VocabColumns) -> Vec<(&[u8], u32, u32, u8)> {
    wire::check_lengths(columns).unwrap();
    let piece = |row: usize| &columns.blob[columns.offsets[row] as usize..columns.offsets[row + 1] as usize];
    let row = |at: usize| (piece(at), columns.ids[at], columns.scores[at].to_bits(), columns.kinds[at] as u8);
    (0..columns.ids.len()).map(row).collect()
}

pub fn sentencepiece(data: &[u8]) {
    let probed = wire::sentencepiece::probe(data);
    let Ok(read) = wire::sentencepiece::read_pieces(data) else { return };
    assert!(probed.is_ok() || read.columns.ids.is_empty(), "a model that is read is not recognized");
    rows(&read.columns);
    if let Ok(written) = wire::sentencepiece::write_pieces(&read.columns, &read.details) {
        let again = wire::sentencepiece::read_pieces(&written).unwrap();
        assert_eq!(rows(&again.columns), rows(&read.columns));
        assert_eq!(again.details, read.details);
    }
}

pub fn gguf(data: &[u8]) {
    let Ok(metadata) = wire::gguf::read(data) else { return };
    assert!(metadata.end <= data.len());
    for entry in &metadata.entries {
        assert!(!data[entry.key.clone()].is_empty() && entry.value.end <= metadata.end);
        const STRING: u32 = 8;
        if entry.element != STRING || entry.kind == STRING {
            continue;
        }
        let value = &data[entry.value.clone()];
        let Ok(texts) = wire::gguf::strings(value, entry.count, metadata.big_endian) else { continue };
        assert_eq!(wire::gguf::write_strings(&texts, metadata.big_endian).unwrap(), value);
        let _ = wire::gguf::byte_level(&texts, |_| true);
        let _ = wire::gguf::resolve_merges(&texts, &texts);
    }
}

pub fn huggingface(data: &[u8]) {
    let probed = wire::huggingface::probe(data);
    let Ok(read) = wire::huggingface::read(data) else { return };
    assert!(probed.is_ok(), "a tokenizer.json that is read is not recognized");
    let merges = read.merges.as_deref().unwrap_or_default();
    let has_id = |id: &u32| read.columns.ids.contains(id);
    assert!(merges.iter().flatten().all(has_id), "a merge of ids without entries");
    let _ = wire::huggingface::to_bytes(&read.columns, merges);
    if read.replaced == 0 {
        check_json(&read.columns, merges, read.exact_scores.as_deref(), read.pairs);
    }
}

/// Writes a vocabulary as JSON, and checks that it is read as before.
fn check_json(columns: &VocabColumns, merges: &[[u32; 3]], exact_scores: Option<&[f64]>, pairs: bool) {
    let parts = VocabParts { columns, merges, exact_scores, byte_level: false, pairs, indent: 0 };
    let Ok((vocab, merge_list)) = wire::huggingface::write(&parts) else { return };
    let document = format!("{{\"model\":{{\"vocab\":{vocab},\"merges\":{merge_list}}}}}");
    let again = wire::huggingface::read(document.as_bytes()).unwrap();
    assert_eq!(rows(&again.columns), rows(columns));
    assert_eq!(again.columns.wide_scores, columns.wide_scores);
    assert_eq!(again.merges.unwrap_or_default(), merges);
}

pub fn vocab_json(data: &[u8]) {
    let mut choices = Choices::new(data);
    let vocab_len = usize::from(choices.byte()) << 2;
    let vocab = choices.take(vocab_len);
    let Ok((columns, replaced)) = wire::huggingface::vocab_file(vocab) else { return };
    rows(&columns);
    let merges = wire::huggingface::merges_file(choices.rest(), &columns).unwrap_or_default();
    if replaced == 0 {
        check_json(&columns, &merges, None, false);
    }
}

pub fn tekken(data: &[u8]) {
    let mut choices = Choices::new(data);
    let live = u32::from(choices.byte()) + 200;
    let document = choices.rest();
    let Ok(range) = wire::tekken::vocab_range(document) else { return };
    let Ok(entries) = wire::tekken::read(&document[range], live, 5) else { return };
    assert_eq!(rows(&entries.columns).len(), live as usize);
    let layout = Layout {
        rank: "{\"rank\":".into(),
        bytes: ",\"token_bytes\":".into(),
        text: ",\"token_str\":".into(),
        end: "}".into(),
        separator: ",".into(),
        ascii: false,
    };
    let body = wire::tekken::write(&entries.columns, &entries.unequal_texts, &layout);
    let again = wire::tekken::read(&[b"[", &body[..], b"]"].concat(), live, 5).unwrap();
    assert_eq!(rows(&again.columns), rows(&entries.columns));
    assert_eq!(again.unequal_texts, entries.unequal_texts);
}

pub fn tiktoken(data: &[u8]) {
    let Ok(columns) = wire::rank_file::read(data) else { return };
    let written = wire::rank_file::write(&columns);
    assert_eq!(rows(&wire::rank_file::read(&written).unwrap()), rows(&columns));
}

pub fn rwkv(data: &[u8]) {
    if let Ok(columns) = wire::rwkv::read(data) {
        rows(&columns);
    }
}

pub fn minbpe(data: &[u8]) {
    let Ok(merges) = wire::minbpe::read_merges(data, 1, 1 << 20) else { return };
    let rows = rows(&merges.columns);
    for [left, right, merged] in merges.merges {
        let text = |id: u32| rows[id as usize].0;
        assert_eq!(text(merged), [text(left), text(right)].concat());
    }
}

pub fn llama2c(data: &[u8]) {
    let Ok(columns) = wire::llama2c::read(data) else { return };
    rows(&columns);
    if let Ok(written) = wire::llama2c::write(&columns) {
        assert_eq!(rows(&wire::llama2c::read(&written).unwrap()), rows(&columns));
    }
}
