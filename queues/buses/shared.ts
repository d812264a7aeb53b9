/** Something that is opened when it is needed, and again once it is no longer open. */
export class Shared<T extends { readonly isOpen: boolean }> {
  readonly #open: () => Promise<T>;
  #current: Promise<T> | undefined;

  constructor(open: () => Promise<T>) {
    this.#open = open;
  }

  /** The one that is open; all who ask at the same time get the same. Throws why it cannot be opened. */
  async get(): Promise<T> {
    const first = await this.#one();
    return first.isOpen ? first : await this.#one();
  }

  /** The one that there is, open or not. */
  async present(): Promise<T | undefined> {
    return await this.#current?.catch(() => undefined);
  }

  async #one(): Promise<T> {
    this.#current ??= this.#open();
    const current = this.#current;
    const forget = () => {
      if (this.#current === current) this.#current = undefined;
    };
    try {
      const opened = await current;
      if (!opened.isOpen) forget();
      return opened;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
