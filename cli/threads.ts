// Imported before anything else, because Node creates its thread pool at the first use. Every query takes a thread; with
// the default of four, a light query waits behind four heavy ones. More than 16 cost memory without a gain.
process.env['UV_THREADPOOL_SIZE'] ??= '16';
