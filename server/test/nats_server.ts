/** A NATS server for the tests of the relay. */
export { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
