// Imported before anything else: Node makes its threads at their first use. Every query takes one of them; with Node's
// four, a light query waits behind four heavy ones; more than these cost memory and win nothing.
process.env['UV_THREADPOOL_SIZE'] ??= '16';
