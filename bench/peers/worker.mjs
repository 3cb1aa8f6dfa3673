// A per-message worker as most services would write it: amqplib and mysql2, one transaction per
// message with the four steps of close_orders, prepared statements, one pooled connection for each
// message in flight, ack after the commit.
//
// usage: node worker.mjs IN_FLIGHT COUNT   with LAPSE_MYSQL_URL and LAPSE_AMQP_URL set
import amqp from "amqplib";
import mysql from "mysql2/promise";

const QUEUE = "lapse.timeout.due";
const SELECT_DUE =
	"SELECT id FROM t_order WHERE order_no = ? AND status = 'UNPAID' " +
	"AND expire_time <= UTC_TIMESTAMP(3) FOR UPDATE";
const CLOSE_ORDER =
	"UPDATE t_order SET status = 'CLOSED', close_time = UTC_TIMESTAMP(3), " +
	"close_reason = 'TIMEOUT', close_source = 'message', version = version + 1 " +
	"WHERE id = ? AND status = 'UNPAID' AND expire_time <= UTC_TIMESTAMP(3)";
const INSERT_EVENT =
	"INSERT INTO t_outbox_event (event_type, order_no) VALUES ('ORDER_CLOSED', ?)";
const INSERT_TASKS =
	"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) " +
	"SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:', o.order_no, ':', i.id), o.order_no, " +
	`CONCAT('{"sku_id":"', i.sku_id, '","quantity":', i.quantity, '}') ` +
	"FROM t_order o JOIN t_order_item i ON i.order_id = o.id WHERE o.id = ? AND i.quantity > 0";

async function closeOrder(connection, orderNo) {
	await connection.beginTransaction();
	const [rows] = await connection.execute(SELECT_DUE, [orderNo]);
	if (rows.length === 1) {
		const [{ id }] = rows;
		const [{ affectedRows }] = await connection.execute(CLOSE_ORDER, [id]);
		if (affectedRows !== 1) throw new Error(`${orderNo}: not closed`);
		await connection.execute(INSERT_EVENT, [orderNo]);
		await connection.execute(INSERT_TASKS, [id]);
	}
	await connection.commit();
}

const inFlight = Number(process.argv[2]);
const count = Number(process.argv[3]);
const url = new URL(process.env.LAPSE_MYSQL_URL);
const pool = mysql.createPool({
	host: url.hostname,
	port: Number(url.port),
	user: url.username,
	password: decodeURIComponent(url.password),
	database: url.pathname.slice(1),
	timezone: "Z",
	connectionLimit: inFlight,
	supportBigNumbers: true,
});
const broker = await amqp.connect(process.env.LAPSE_AMQP_URL);
const channel = await broker.createChannel();
let started = 0;
let done = 0;

// The connections are there before the first message, as in a worker that has been running.
const warm = await Promise.all(Array.from({ length: inFlight }, () => pool.getConnection()));
for (const connection of warm) {
	await connection.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
	connection.release();
}
const finished = new Promise((resolve, reject) => {
	async function take(message) {
		if (message === null) throw new Error("the queue is gone");
		started ||= Date.now();
		const connection = await pool.getConnection();
		try {
			await closeOrder(connection, JSON.parse(message.content.toString()).order_no);
		} finally {
			connection.release();
		}
		channel.ack(message);
		if (++done === count) resolve();
	}
	channel.prefetch(inFlight).then(() =>
		channel.consume(QUEUE, (message) => take(message).catch(reject)), reject);
});
await finished;
console.log(`start_ms ${started}\nend_ms ${Date.now()}\ncount ${done}`);
await channel.close();
await broker.close();
await pool.end();
