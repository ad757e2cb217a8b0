/**
 * Taking: how a page of the gallery gives a picture to a desktop that is open in another tab of this browser.
 *
 * The gallery asks all tabs, each desktop that has a seat says so, and the first one gets the picture.
 */

const CHANNEL = 'sprites-take';
const ANSWER_MS = 300; // ms for the other tabs to answer: they are in this browser

type Message = { ask: string } | { answer: string; tab: string } | { give: string; tab: string };

interface TakingHandlers {
  /** Whether this desktop can take a picture now. */
  wants(): boolean;
  take(file: string): void;
}

/** From now on this desktop takes the pictures that a gallery gives to it. */
export function answerOffers({ wants, take }: TakingHandlers, channel = new BroadcastChannel(CHANNEL)): void {
  const tab = String(Math.random());
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if ('ask' in data && wants()) channel.postMessage({ answer: data.ask, tab });
    else if ('give' in data && data.tab === tab) take(data.give);
  });
}

/** Gives a picture to an open desktop. Resolves to whether there is one. */
export function offer(file: string, channel = new BroadcastChannel(CHANNEL)): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (isTaken: boolean) => {
      clearTimeout(timer);
      channel.close();
      resolve(isTaken);
    };
    const timer = setTimeout(() => finish(false), ANSWER_MS);
    channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if (!('answer' in data) || data.answer !== file) return;
      channel.postMessage({ give: file, tab: data.tab });
      finish(true);
    });
    channel.postMessage({ ask: file });
  });
}
