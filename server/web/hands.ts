/** What a person does with pointer and keys, said to the simulation. Holds who is selected and nothing else. */
import {
  drag,
  type Edge,
  grab,
  release,
  type Simulation,
  type Sprite,
  spriteAt,
  steer,
  throwTo,
} from './simulation.ts';

export interface Hands {
  readonly selected: Sprite | null;
}

export interface HandHandlers {
  selected(sprite: Sprite | null): void;
  /** The person wants this one put away. */
  putAway(sprite: Sprite): void;
  pause(): void;
}

const FINGER_SLACK = 14; // px around a sprite that a finger may miss it by
const MOUSE_SLACK = 3;

const ARROWS: Record<string, Edge> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'top', ArrowDown: 'bottom' };

export function takeHands(canvas: HTMLCanvasElement, simulation: Simulation, handlers: HandHandlers): Hands {
  canvas.setAttribute('role', 'application'); // screen readers hand the keys on instead of reading with them
  let selected: Sprite | null = null;
  const select = (sprite: Sprite | null) => {
    if (selected === sprite) return;
    selected = sprite;
    handlers.selected(sprite);
  };
  const slack = (event: PointerEvent) => (event.pointerType === 'mouse' ? MOUSE_SLACK : FINGER_SLACK);

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || simulation.held !== null) return;
    canvas.focus({ preventScroll: true });
    const sprite = spriteAt(simulation, event.clientX, event.clientY, slack(event));
    select(sprite);
    if (sprite === null) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add('holding');
    grab(simulation, sprite, event.clientX, event.clientY, event.timeStamp);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) {
      // Between two frames a pointer reports several points; all of them make the throw's speed.
      const points = event.getCoalescedEvents?.() ?? [];
      for (const point of points.length > 0 ? points : [event]) {
        drag(simulation, point.clientX, point.clientY, point.timeStamp);
      }
    } else {
      canvas.classList.toggle('over', spriteAt(simulation, event.clientX, event.clientY, slack(event)) !== null);
    }
  });
  const letGo = (event: PointerEvent) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return;
    canvas.releasePointerCapture(event.pointerId);
    canvas.classList.remove('holding');
    release(simulation, event.timeStamp);
  };
  canvas.addEventListener('pointerup', letGo);
  canvas.addEventListener('pointercancel', letGo);

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.target as Element).closest('dialog, input, button, a')) return;
    if (selected !== null && !simulation.sprites.includes(selected)) select(null);
    if (press(event)) event.preventDefault();
  });
  document.addEventListener('keyup', (event) => {
    if (selected === null || simulation.steered === null) return;
    if (event.key === 'ArrowLeft') steer(simulation, selected, 'left', false);
    if (event.key === 'ArrowRight') steer(simulation, selected, 'right', false);
    if (event.key === 'ArrowUp' || event.key === ' ') steer(simulation, selected, 'jump', false);
  });

  // A key that is let go while another window has the focus is never reported.
  addEventListener('blur', () => {
    simulation.steered = null;
  });

  return {
    get selected() {
      return selected;
    },
  };

  /** True when the key meant something. */
  function press({ key, shiftKey, repeat }: KeyboardEvent): boolean {
    if (key === 'n' || key === 'N') {
      select(simulation.sprites[(simulation.sprites.indexOf(selected!) + 1) % simulation.sprites.length] ?? null);
      return true;
    }
    if (key === 'p' || key === 'P') {
      if (!repeat) handlers.pause();
      return true;
    }
    if (key === 'Escape') select(null);
    if (selected === null || selected.mode === 'drag') return false;
    const edge = ARROWS[key];
    if (edge !== undefined && shiftKey) {
      if (!repeat) throwTo(simulation, selected, edge);
    } else if (edge === 'left' || edge === 'right') {
      steer(simulation, selected, edge, true);
    } else if (edge === 'top' || key === ' ') {
      steer(simulation, selected, 'jump', true);
    } else if (edge === 'bottom') {
      if (!repeat) steer(simulation, selected, 'drop', true);
    } else if (key === 'Delete' || key === 'Backspace') {
      handlers.putAway(selected);
    } else {
      return false;
    }
    return true;
  }
}
