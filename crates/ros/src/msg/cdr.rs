use hiroz_cdr::{BigEndian, CdrSerializer, LittleEndian};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The four bytes before a message: the encoding (plain CDR, little endian) and no options.
const LITTLE_ENDIAN_HEADER: [u8; 4] = [0, 1, 0, 0];
const HEADER_LENGTH: usize = 4;

/// Why bytes are no message of the type.
#[derive(Debug, thiserror::Error)]
pub enum CdrError {
    /// Less than the header of every message.
    #[error("{length} bytes are too few for a message")]
    TooShort {
        /// How many came.
        length: usize,
    },
    /// The header names another encoding than plain CDR.
    #[error("the encoding 0x{encoding:04x} is not plain CDR")]
    UnknownEncoding {
        /// The first two bytes.
        encoding: u16,
    },
    /// The body does not fit the type.
    #[error("the bytes do not fit the type: {0}")]
    Malformed(#[from] hiroz_cdr::Error),
    /// The body is longer than a message of the type.
    #[error("{left} bytes are left behind the message")]
    TooLong {
        /// How many are left.
        left: usize,
    },
}

/// The message as CDR, with its header.
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    bytes.extend_from_slice(&LITTLE_ENDIAN_HEADER);
    message
        .serialize(&mut CdrSerializer::<LittleEndian>::new(&mut bytes))
        .expect("messages hold only what CDR can say");
    bytes
}

/// Reads a message. Text and bytes are borrowed from `bytes`; no length is believed before the bytes are there.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, CdrError> {
    decode_prefix(bytes).map(|(message, _)| message)
}

/// Reads a message that has to end where the bytes end. Up to seven bytes of padding are taken.
pub fn decode_whole<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, CdrError> {
    let (message, used) = decode_prefix(bytes)?;
    let left = bytes.len() - HEADER_LENGTH - used;
    if left > 7 { Err(CdrError::TooLong { left }) } else { Ok(message) }
}

fn decode_prefix<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, usize), CdrError> {
    let Some((header, body)) = bytes.split_first_chunk::<HEADER_LENGTH>() else {
        return Err(CdrError::TooShort { length: bytes.len() });
    };
    match header {
        [0, 1, ..] => Ok(hiroz_cdr::from_bytes::<T, LittleEndian>(body)?),
        [0, 0, ..] => Ok(hiroz_cdr::from_bytes::<T, BigEndian>(body)?),
        [high, low, ..] => Err(CdrError::UnknownEncoding { encoding: u16::from_be_bytes([*high, *low]) }),
    }
}

/// A `uint8[]`, borrowed: written and read in one piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer).map(Self)
    }
}
