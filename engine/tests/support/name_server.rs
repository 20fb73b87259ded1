//! A name server on loopback that answers from a table, over UDP.
#![allow(clippy::unwrap_used, reason = "a peer that fails fails its test")]

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// A running name server. Names and types without a row do not exist. The addresses of a name with an HTTPS record come
/// behind that record, for which clients wait no longer than a busy machine may stand still.
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

/// Rows as `("name. HTTPS", 60, "1 . alpn=h3")`: name and type, time to live in seconds, data as in a
/// zone's file. `-` as the data: the question is not answered at all.
pub(crate) type Row<'a> = (&'a str, u32, String);

/// Records by the keys of their rows; `None`: no answer.
type Zone = BTreeMap<String, Vec<Option<Record>>>;

impl NameServer {
    pub(crate) async fn start(rows: &[Row<'_>]) -> Self {
        let mut zone = Zone::new();
        for (key, ttl, data) in rows {
            let (name, kind) = key.split_once(' ').unwrap();
            let record = (data != "-").then(|| {
                let data = RData::try_from_str(kind.parse::<RecordType>().unwrap(), data).unwrap();
                Record::from_rdata(Name::from_ascii(name).unwrap(), *ttl, data)
            });
            zone.entry((*key).to_owned()).or_default().push(record);
        }
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            let mut packet = [0; 4096];
            let mut held: Vec<(String, Vec<u8>, SocketAddr)> = Vec::new();
            loop {
                let (length, from) = socket.recv_from(&mut packet).await.unwrap();
                let query = Message::from_vec(&packet[..length]).unwrap();
                let question = query.queries[0].clone();
                let name = question.name().to_string();
                let key = format!("{name} {}", question.query_type());
                let is_record = question.query_type() == RecordType::HTTPS;
                let waits_for = (!is_record).then(|| record_of(&zone, &name)).flatten();
                let waits_for = waits_for.filter(|record| !noted.lock().unwrap().contains(record));
                noted.lock().unwrap().push(key.clone());
                let mut answer = Message::response(query.metadata.id, query.metadata.op_code);
                answer.metadata.message_type = MessageType::Response;
                answer.metadata.recursion_available = true;
                answer.add_query(question);
                match zone.get(&key) {
                    Some(records) => {
                        let Some(records) = records.iter().cloned().collect::<Option<Vec<_>>>()
                        else {
                            continue;
                        };
                        answer.add_answers(records);
                    }
                    None => answer.metadata.response_code = ResponseCode::NXDomain,
                }
                let answer = answer.to_vec().unwrap();
                if let Some(record) = waits_for {
                    held.push((record, answer, from));
                    continue;
                }
                socket.send_to(&answer, from).await.unwrap();
                for (_, answer, from) in held.extract_if(.., |(record, ..)| *record == key) {
                    socket.send_to(&answer, from).await.unwrap();
                }
            }
        });
        Self {
            address,
            asked,
            task,
        }
    }
    /// The questions so far, as the keys of rows.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// The key of the HTTPS record of this name's origin, where it is answered.
fn record_of(zone: &Zone, name: &str) -> Option<String> {
    let mut answered = zone
        .iter()
        .filter(|(_, data)| data.iter().all(Option::is_some));
    let found = answered.find(|(key, _)| {
        let owner = key.strip_suffix(" HTTPS");
        owner.is_some_and(|owner| owner.rsplit("._https.").next() == Some(name))
    });
    found.map(|(key, _)| key.clone())
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
