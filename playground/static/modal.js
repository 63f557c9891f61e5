// A view that the app has opened over the page.
import { send } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { byId, fill, h, icon } from "./dom.js";

export function showModal(modal, state, report) {
  const dialog = byId("modal");
  if (!modal) {
    if (dialog.open) dialog.close();
    return;
  }
  const context = { people: state.people, channels: state.channels, user: state.user };
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const dismiss = () => report(send("dismiss", { user: state.user, view_id: modal.id }));
  const form = h(
    "form",
    { method: "dialog" },
    h("header", { class: "bar" }, h("h2", { id: "modal-title" }, modal.title?.text ?? ""), h("button", { type: "button", class: "icon", "aria-label": "Close", onclick: dismiss }, icon("close"))),
    h("div", { class: "modal-body" }, ...renderBlocks(modal.blocks ?? [], context, () => {}), problem),
    h(
      "footer",
      {},
      h("button", { type: "button", class: "button", onclick: dismiss }, modal.close?.text ?? "Cancel"),
      modal.submit ? h("button", { type: "submit", class: "button primary" }, modal.submit.text) : null,
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const values = {};
    for (const field of form.querySelectorAll("[data-action]")) {
      const { block, action, kind } = field.dataset;
      const value = kind === "plain_text_input" ? { value: field.value || null } : { selected_option: { value: field.value, text: { type: "plain_text", text: field.selectedOptions?.[0]?.textContent ?? "" } } };
      values[block] = { ...values[block], [action]: { type: kind, ...value } };
    }
    try {
      const { response, acknowledged } = await send("submit", { user: state.user, view_id: modal.id, values });
      if (!acknowledged) throw new Error("The app took too long. Try again.");
      if (response?.response_action === "errors") throw new Error(Object.values(response.errors ?? {}).join(" "));
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  });
  dialog.oncancel = (event) => {
    event.preventDefault();
    dismiss();
  };
  fill(dialog, form);
  if (!dialog.open) dialog.showModal();
}
