//! The messages of gRPC's interop suite (`grpc.testing`) as bytes: the fields that its cases use.

use bytes::Bytes;
use tonic::Status;

/// Field 2 of `SimpleRequest`, in bytes.
pub(super) const RESPONSE_SIZE: u64 = 2;
/// Field 2 of `StreamingOutputCallRequest`.
pub(super) const RESPONSE_PARAMETERS: u64 = 2;
/// Field 3 of both.
pub(super) const PAYLOAD: u64 = 3;
/// Field 7 of both.
pub(super) const RESPONSE_STATUS: u64 = 7;
/// Field 9 of `SimpleRequest`.
pub(super) const FILL_SERVER_ID: u64 = 9;
/// Field 1 of every message that holds only a payload.
pub(super) const ONLY_PAYLOAD: u64 = 1;
/// Field 4 of `SimpleResponse`.
pub(super) const SERVER_ID: u64 = 4;
/// Field 1 of `StreamingInputCallResponse`.
pub(super) const AGGREGATED_SIZE: u64 = 1;

/// A field's value: the two kinds of protobuf's wire format that occur.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Result<u64, Status> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or_else(malformed)?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(malformed())
}

fn malformed() -> Status {
    Status::internal("the message is not one of protobuf")
}

pub(super) fn number(field: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, field << 3);
    put_varint(&mut out, value);
    out
}

pub(super) fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 16);
    put_varint(&mut out, field << 3 | 2);
    put_varint(&mut out, content.len() as u64);
    out.extend_from_slice(content);
    out
}

/// The fields of a message, in order.
pub(super) fn fields(mut message: &[u8]) -> Result<Vec<(u64, Value<'_>)>, Status> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = take_varint(&mut message)?;
        let value = match key & 7 {
            0 => Value::Number(take_varint(&mut message)?),
            2 => {
                let length = take_varint(&mut message)? as usize;
                let taken = message.split_at_checked(length).ok_or_else(malformed)?;
                message = taken.1;
                Value::Bytes(taken.0)
            }
            _ => return Err(malformed()),
        };
        fields.push((key >> 3, value));
    }
    Ok(fields)
}

/// The number of a field; 0 where it is absent.
pub(super) fn number_of(message: &[u8], field: u64) -> Result<u64, Status> {
    let found = fields(message)?.into_iter().rev();
    let mut numbers = found.filter_map(|(at, value)| match value {
        Value::Number(number) if at == field => Some(number),
        _ => None,
    });
    Ok(numbers.next().unwrap_or(0))
}

/// The bytes of every field of that number.
pub(super) fn all_bytes_of(message: &[u8], field: u64) -> Result<Vec<&[u8]>, Status> {
    let found = fields(message)?.into_iter();
    let of_field = found.filter_map(|(at, value)| match value {
        Value::Bytes(bytes) if at == field => Some(bytes),
        _ => None,
    });
    Ok(of_field.collect())
}

/// The bytes of a field; empty where it is absent.
pub(super) fn bytes_of(message: &[u8], field: u64) -> Result<&[u8], Status> {
    Ok(all_bytes_of(message, field)?.pop().unwrap_or_default())
}

/// A message's field `field` that is a `Payload` of `size` zeros.
pub(super) fn payload(field: u64, size: usize) -> Vec<u8> {
    bytes(field, &bytes(2, &vec![0; size]))
}

/// The size of the payload in `field`.
pub(super) fn payload_size(message: &[u8], field: u64) -> Result<usize, Status> {
    Ok(bytes_of(bytes_of(message, field)?, 2)?.len())
}

/// A `StreamingOutputCallRequest` for responses of these sizes, with a payload of its own.
pub(super) fn asking_for(sizes: &[usize], own: usize) -> Bytes {
    let parameters = sizes.iter().flat_map(|size| {
        let size = number(1, *size as u64);
        bytes(RESPONSE_PARAMETERS, &size)
    });
    let mut message: Vec<u8> = parameters.collect();
    message.extend(payload(PAYLOAD, own));
    message.into()
}

/// A `SimpleRequest` for a response of that size, with a payload of its own.
pub(super) fn asking_once(size: usize, own: usize) -> Bytes {
    let mut message = number(RESPONSE_SIZE, size as u64);
    message.extend(payload(PAYLOAD, own));
    message.into()
}

/// The field of an `EchoStatus`.
pub(super) fn echo_status(code: i32, text: &str) -> Vec<u8> {
    let status = [number(1, code as u64), bytes(2, text.as_bytes())].concat();
    bytes(RESPONSE_STATUS, &status)
}
