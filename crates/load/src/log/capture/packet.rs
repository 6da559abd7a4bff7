//! Packets of a capture, and the TCP segments in them.

use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};

use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};

use super::super::moment::micros;

/// Longer packets are none: those of tcpdump have at most 256 KiB.
const BUFFER_BYTES: usize = 1 << 20;
const DAMAGED: &str = "the rest of a file that is damaged or cut short";
const MICROS: u64 = 1_000_000;

/// A TCP segment.
pub(super) struct Segment<'a> {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) sequence: u32,
    pub(super) acknowledged: Option<u32>,
    pub(super) begins: bool,
    /// 1: its side has ended; more: both.
    pub(super) ends: u8,
    pub(super) payload: &'a [u8],
}

/// Whether a file that begins so is a capture: pcap in either order of bytes, pcapng.
pub(crate) fn is_capture(head: &[u8]) -> bool {
    let mark = head.first_chunk().map(|mark| u32::from_be_bytes(*mark));
    let marks = [
        0xA1B2_C3D4,
        0xD4C3_B2A1,
        0xA1B2_3C4D,
        0x4D3C_B2A1,
        0x0A0D_0D0A,
    ];
    mark.is_some_and(|mark| marks.contains(&mark))
}

/// Takes a packet: its time, its kind of network and its bytes.
type Each<'a> = dyn FnMut(i64, i32, &[u8]) -> io::Result<()> + 'a;

/// Hands on each packet. Returns why a file ends before its end.
pub(super) fn read<'b>(
    input: impl Read + Send + 'b,
    each: &mut Each<'_>,
) -> io::Result<Option<&'static str>> {
    let Ok(mut reader) = create_reader(BUFFER_BYTES, input) else {
        return Ok(Some("a file that is no capture (pcap, pcapng)"));
    };
    // Each one's kind, ticks a second, and seconds to add.
    let mut networks: Vec<(i32, u64, u64)> = Vec::new();
    loop {
        match reader.next() {
            Ok((bytes, block)) => {
                let (seconds, network, data) = match &block {
                    PcapBlockOwned::LegacyHeader(header) => {
                        let nanos = if header.is_nanosecond_precision() {
                            1000
                        } else {
                            1
                        };
                        networks = vec![(header.network.0, nanos * MICROS, 0)];
                        (0.0, usize::MAX, &[][..])
                    }
                    PcapBlockOwned::Legacy(packet) => {
                        let ticks = networks.first().map_or(MICROS, |first| first.1);
                        let part = f64::from(packet.ts_usec) / ticks as f64;
                        (f64::from(packet.ts_sec) + part, 0, packet.data)
                    }
                    PcapBlockOwned::NG(Block::InterfaceDescription(one)) => {
                        let ticks = one.ts_resolution().unwrap_or(MICROS).max(1);
                        networks.push((one.linktype.0, ticks, one.ts_offset().cast_unsigned()));
                        (0.0, usize::MAX, &[][..])
                    }
                    PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                        let known = networks.get(packet.if_id as usize);
                        let (_, ticks, offset) = known.copied().unwrap_or((0, MICROS, 0));
                        let length = packet.data.len().min(packet.caplen as usize);
                        let seconds = packet.decode_ts_f64(offset, ticks);
                        (seconds, packet.if_id as usize, &packet.data[..length])
                    }
                    PcapBlockOwned::NG(block) => {
                        if let Block::SectionHeader(_) = block {
                            networks.clear();
                        }
                        (0.0, usize::MAX, &[][..])
                    }
                };
                if let Some(&(kind, ..)) = networks.get(network) {
                    each(micros(seconds).unwrap_or(0).cast_signed(), kind, data)?;
                }
                reader.consume(bytes);
            }
            Err(PcapError::Eof) => return Ok(None),
            Err(PcapError::Incomplete(_)) => {
                if reader.refill().is_err() {
                    return Ok(Some(DAMAGED));
                }
            }
            Err(_) => return Ok(Some(DAMAGED)),
        }
    }
}

/// When the first packet of a file was sent, from its beginning.
pub(crate) fn first(head: &[u8]) -> Option<i64> {
    let mut found = None;
    // The error ends the reading.
    let _ = read(head, &mut |at_us, _, _| {
        found = Some(at_us);
        Err(io::Error::other("enough"))
    });
    found
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The segment in a packet; `None`: it has none, or not the whole head of one.
pub(super) fn segment(network: i32, data: &[u8]) -> Option<Segment<'_>> {
    const TCP: u8 = 6;
    let begin = match network {
        // Ethernet, with any marks of virtual networks.
        1 => {
            let mut kind = 12;
            while let Some([0x81 | 0x91, 0] | [0x88, 0xA8]) = data.get(kind..kind + 2) {
                kind += 4;
            }
            kind + 2
        }
        // BSD's loopback, Linux' `-i any` in two versions.
        0 | 108 => 4,
        113 => 16,
        276 => 20,
        _ => 0,
    };
    let ip = data.get(begin..)?;
    let (from, to, begin, end): (IpAddr, IpAddr, usize, u16) = if *ip.first()? >> 4 == 4 {
        let is_part = short(ip, 6)? & 0x3FFF != 0;
        let address = |at| Some(IpAddr::from(long(ip, at)?.to_be_bytes()));
        let begin = (*ip.get(9)? == TCP && !is_part).then_some(usize::from(ip[0] & 15) * 4)?;
        (address(12)?, address(16)?, begin, short(ip, 2)?)
    } else {
        let (mut next, mut begin) = (*ip.get(6)?, 40);
        // Extensions that say nothing of where it goes.
        while matches!(next, 0 | 43 | 60) {
            next = *ip.get(begin)?;
            begin += 8 * (usize::from(*ip.get(begin + 1)?) + 1);
        }
        let address = |at: usize| Some(IpAddr::from(*ip.get(at..)?.first_chunk::<16>()?));
        let is_tcp = ip[0] >> 4 == 6 && next == TCP;
        let end = short(ip, 4)?;
        let end = if end == 0 { 0 } else { end.saturating_add(40) };
        is_tcp.then_some((address(8)?, address(24)?, begin, end))?
    };
    // The kernel hands on long packets without a length.
    let end = if end == 0 { usize::MAX } else { end.into() };
    let tcp = ip.get(begin..end.min(ip.len()))?;
    let flags = *tcp.get(13)?;
    Some(Segment {
        from: SocketAddr::new(from, short(tcp, 0)?),
        to: SocketAddr::new(to, short(tcp, 2)?),
        sequence: long(tcp, 4)?,
        acknowledged: long(tcp, 8).filter(|_| flags & 0x10 != 0),
        begins: flags & 2 != 0,
        ends: (flags & 1) + (flags >> 1 & 2),
        payload: tcp.get(usize::from(tcp[12] >> 4) * 4..)?,
    })
}
