/** A relay with a moderator, without processes. */
import type { Logger } from 'pino';
import { GalleryList } from '../moderation/gallery_list.ts';
import { ModerationList } from '../moderation/moderation_list.ts';
import { type ModerationMessage, Moderator } from '../moderation/moderator.ts';
import { Flights } from '../processes/flights.ts';
import { Master } from '../processes/master.ts';
import { Seats } from '../processes/seats.ts';
import { FeedbackFile } from '../store/feedback_file.ts';
import { turnsOf } from './relay_harness.ts';

export interface ModeratedRelay {
  moderator: Moderator;
  list: ModerationList;
  gallery: GalleryList;
  /** The events that all desktops get, and what the workers are told. */
  notices: object[];
  sent: ModerationMessage[];
  master: Master;
}

/** `data`: its data directory. `clock`: the wall clock in ms. `shipped`: the files that ship with it. */
export function moderatedRelay(data: string, log: Logger, clock: () => number, shipped: string[] = []): ModeratedRelay {
  const turns = turnsOf({ slots: 4 });
  const [list, gallery] = [new ModerationList(data, log, clock), new GalleryList(data, log, clock)];
  const notices: object[] = [];
  turns.relay.notify = (notice) => void notices.push(notice);
  const sent: ModerationMessage[] = [];
  const moderator = new Moderator({
    ...{
      turns,
      list,
      log,
      shipped,
      flights: new Flights(turns.relay),
      send: async (message) => void sent.push(message),
    },
    ...{ gallery, feedback: new FeedbackFile(data, log) },
  });
  const master = new Master({ turns, seats: new Seats(turns.relay, moderator), moderation: moderator });
  return { moderator, list, gallery, notices, sent, master };
}
