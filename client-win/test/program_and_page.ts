/**
 * A relay, the Windows program under Wine, which Ada has, and the page in Chromium, which Bob has. They are alone in a private world, so
 * each is beyond every edge of the other.
 */
import type { Browser, Page } from 'playwright-core';
import { joinPage, launchBrowser } from '../../server/test/browser_page.ts';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { WINDOWS_CLIENT } from '../../tools/build.js';
import { type WindowManager, WineDesktop } from './wine_desktop.ts';

export class ProgramAndPage {
  relay!: RelayProcess;
  ada!: WineDesktop;
  browser!: Browser;
  bob!: Page;
  /** Errors of the page. */
  readonly faults: string[] = [];

  /** `name` is that of the Wine desktop. `prepare` writes files of the program before it starts. */
  async start(name: string, windowManager?: WindowManager, prepare?: (ada: WineDesktop) => void): Promise<void> {
    this.relay = await startRelay({ workers: 0 });
    this.ada = await WineDesktop.start(name, windowManager);
    const settings = { world: 'both', name: 'Ada', sound: false, calm: true, greeted: true };
    this.ada.writeSettings({ relay: this.relay.url, ...settings });
    prepare?.(this.ada);
    this.ada.launch(WINDOWS_CLIENT);
    this.browser = await launchBrowser();
    // With reduced motion his sprites stay where the test leaves them.
    const calm = { reducedMotion: 'reduce' } as const;
    this.bob = await joinPage(this.browser, `${this.relay.url}/?world=both`, 'Bob', this.faults, calm);
    await this.bob.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Ada' }).waitFor();
  }

  /** Also after a start that failed. */
  async stop(): Promise<void> {
    await this.browser?.close();
    await this.ada?.stop();
    await this.relay?.stop();
  }
}
