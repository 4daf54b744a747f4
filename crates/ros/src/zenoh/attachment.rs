use zenoh::Session;
use zenoh::bytes::ZBytes;

/// What `rmw_zenoh` sends beside every message, request and response: a counter, the time, and who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attachment {
    pub(super) seq: i64,
    pub(super) stamp_nanos: i64,
    pub(super) gid: [u8; 16],
}

const LENGTH: usize = 8 + 8 + 1 + 16;

impl Attachment {
    pub(super) fn now(seq: i64, gid: [u8; 16]) -> Self {
        Self { seq, stamp_nanos: super::unix_nanos(), gid }
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend_from_slice(&self.seq.to_le_bytes());
        bytes.extend_from_slice(&self.stamp_nanos.to_le_bytes());
        // The id is written as a sequence: its length stands before it.
        bytes.push(16);
        bytes.extend_from_slice(&self.gid);
        bytes
    }

    pub(super) fn read(bytes: &ZBytes) -> Option<Self> {
        let bytes: [u8; LENGTH] = bytes.to_bytes().as_ref().try_into().ok()?;
        let (seq, rest) = bytes.split_first_chunk()?;
        let (stamp, rest) = rest.split_first_chunk()?;
        let (16, gid) = rest.split_first()? else { return None };
        Some(Self { seq: i64::from_le_bytes(*seq), stamp_nanos: i64::from_le_bytes(*stamp), gid: gid.try_into().ok()? })
    }
}

/// The id of an entity: unique, since sessions and the entities of a session are.
pub(super) fn gid(session: &Session, entity: u64) -> [u8; 16] {
    let mut gid = session.zid().to_le_bytes();
    for (byte, part) in gid.iter_mut().zip(entity.to_le_bytes()) {
        *byte ^= part;
    }
    gid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_survive_the_wire() {
        let attachment = Attachment { seq: 7, stamp_nanos: -1, gid: [9; 16] };
        let bytes = attachment.to_bytes();
        assert_eq!(bytes.len(), 33);
        assert_eq!(Attachment::read(&ZBytes::from(bytes)), Some(attachment));
        assert_eq!(Attachment::read(&ZBytes::from(vec![0; 32])), None);
        assert_eq!(Attachment::read(&ZBytes::from(vec![0; 33])), None);
    }
}
