import { sendDue } from '../channels/send.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import type { Job } from './job.ts';

/** Sends what channels are to hear. Runs often, so that an event is sent within seconds. */
export const sendDeliveries: Job = {
  name: 'send-deliveries',
  isQuiet: true,
  every: 3000,
  jitter: 0,
  async run({ settings, catalog, log, now }, signal) {
    const { sent, failed } = await sendDue(catalog, {
      ...{ settings, now, signal },
      sleep: SYSTEM_CLOCK.sleep,
      random: Math.random,
      onError: (err, delivery) => log.error({ err, delivery }, 'the end of a delivery could not be stored'),
    });
    return { ...(sent > 0 && { sent }), ...(failed > 0 && { failed }) };
  },
};
