//! Packets of a capture, and the TCP segments in them.

use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};

use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};

use super::super::moment::micros;

/// Longer packets are none: those of tcpdump have at most 256 KiB.
const BUFFER_BYTES: usize = 1 << 20;
/// No machine has more networks.
const MOST_NETWORKS: usize = 10_000;
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
        let (bytes, block) = match reader.next() {
            Ok(read) => read,
            Err(PcapError::Eof) => return Ok(None),
            Err(PcapError::Incomplete(_)) => match reader.refill() {
                Ok(()) => continue,
                Err(_) => return Ok(Some(DAMAGED)),
            },
            Err(_) => return Ok(Some(DAMAGED)),
        };
        let packet = match &block {
            PcapBlockOwned::LegacyHeader(header) => {
                let is_nano = header.is_nanosecond_precision();
                let ticks = if is_nano { 1000 * MICROS } else { MICROS };
                networks = vec![(header.network.0, ticks, 0)];
                None
            }
            PcapBlockOwned::Legacy(packet) => networks.first().map(|&(kind, ticks, _)| {
                let fraction = f64::from(packet.ts_usec) / ticks as f64;
                (kind, f64::from(packet.ts_sec) + fraction, packet.data)
            }),
            PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                networks.clear();
                None
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(one)) => {
                let ticks = one.ts_resolution().unwrap_or(MICROS).max(1);
                networks.push((one.linktype.0, ticks, one.ts_offset().cast_unsigned()));
                networks.truncate(MOST_NETWORKS);
                None
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let known = networks.get(packet.if_id as usize);
                known.map(|&(kind, ticks, offset)| {
                    let length = packet.data.len().min(packet.caplen as usize);
                    let seconds = packet.decode_ts_f64(offset, ticks);
                    (kind, seconds, &packet.data[..length])
                })
            }
            PcapBlockOwned::NG(_) => None,
        };
        if let Some((kind, seconds, data)) = packet {
            each(micros(seconds).unwrap_or(0).cast_signed(), kind, data)?;
        }
        reader.consume(bytes);
    }
}

fn part<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<[u8; BYTES]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The segment in a packet; `None`: it has none, or not the whole head of one.
pub(super) fn segment(network: i32, data: &[u8]) -> Option<Segment<'_>> {
    const TCP: u8 = 6;
    let short = |bytes, at| part(bytes, at).map(u16::from_be_bytes);
    let begin = match network {
        // Ethernet, with any marks of virtual networks.
        1 => {
            let mut kind = 12;
            while let Some([0x81 | 0x91, 0] | [0x88, 0xA8]) = part(data, kind) {
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
    let version = ip.first()? >> 4;
    let (from, to, next, begin, end) = if version == 4 {
        let address = |at| part::<4>(ip, at).map(IpAddr::from);
        let is_part = short(ip, 6)? & 0x3FFF != 0;
        let next = ip.get(9).filter(|_| !is_part)?;
        let begin = usize::from(ip[0] & 15) * 4;
        (address(12)?, address(16)?, *next, begin, short(ip, 2)?)
    } else {
        let address = |at| part::<16>(ip, at).map(IpAddr::from);
        let (mut next, mut begin) = (*ip.get(6)?, 40);
        // Extensions that say nothing of where it goes.
        while let (0 | 43 | 60, [after, eights]) = (next, part(ip, begin)?) {
            next = after;
            begin += 8 * (usize::from(eights) + 1);
        }
        let length = short(ip, 4)?;
        let end = length.saturating_add(40) * u16::from(length > 0);
        (address(8)?, address(24)?, next, begin, end)
    };
    // The kernel hands on long packets without a length.
    let end = if end == 0 { ip.len() } else { end.into() };
    let tcp = ip.get(begin..end.min(ip.len()))?;
    let is_tcp = next == TCP && matches!(version, 4 | 6);
    let flags = *tcp.get(13).filter(|_| is_tcp)?;
    let long = |at| part(tcp, at).map(u32::from_be_bytes);
    Some(Segment {
        from: SocketAddr::new(from, short(tcp, 0)?),
        to: SocketAddr::new(to, short(tcp, 2)?),
        sequence: long(4)?,
        acknowledged: long(8).filter(|_| flags & 0x10 != 0),
        begins: flags & 2 != 0,
        ends: (flags & 1) + (flags >> 1 & 2),
        payload: tcp.get(usize::from(tcp[12] >> 4) * 4..)?,
    })
}
