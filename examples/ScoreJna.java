// ScoreJna MODEL CONTEXT: what score.c does, in Java by JNA (Debian's libjna-java).
//
//   javac -cp /usr/share/java/jna.jar ScoreJna.java
//   java -cp /usr/share/java/jna.jar:. ScoreJna model.lvt user,page <requests

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;

public class ScoreJna {
  /** leveret/leveret.h; a size_t is a long, as on every machine of 64 bits. */
  public interface Leveret extends Library {
    int ABI_VERSION = 1;

    int leveret_abi_version();
    String leveret_error_message();
    int leveret_model_open(String path, PointerByReference model);
    void leveret_model_close(Pointer model);
    int leveret_predictor_new(Pointer model, String context, PointerByReference predictor);
    void leveret_predictor_free(Pointer predictor);
    int leveret_set_context(Pointer predictor, byte[] line, long size);
    int leveret_predict_lines(
        Pointer predictor, byte[] text, long size, float[] probabilities, long count);
  }

  private static final Leveret LIBRARY = Native.load("libleveret.so.0", Leveret.class);

  private static void check(int code) {
    if (code != 0) throw new IllegalStateException(LIBRARY.leveret_error_message());
  }

  private static void score(Pointer predictor, String context, StringBuilder candidates, int count) {
    byte[] line = context.getBytes(StandardCharsets.UTF_8);
    byte[] text = candidates.toString().getBytes(StandardCharsets.UTF_8);
    float[] probabilities = new float[count];
    check(LIBRARY.leveret_set_context(predictor, line, line.length));
    check(LIBRARY.leveret_predict_lines(predictor, text, text.length, probabilities, count));
    for (float p : probabilities) {
      // A float has all its digits here, and is rounded as C does it.
      System.out.println(new BigDecimal(p).setScale(6, RoundingMode.HALF_EVEN).toPlainString());
    }
    System.out.println();
  }

  public static void main(String[] args) throws Exception {
    if (LIBRARY.leveret_abi_version() != Leveret.ABI_VERSION) {
      throw new IllegalStateException("another libleveret is needed");
    }
    PointerByReference model = new PointerByReference(), predictor = new PointerByReference();
    check(LIBRARY.leveret_model_open(args[0], model));
    check(LIBRARY.leveret_predictor_new(model.getValue(), args[1], predictor));
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    // Requests are separated by empty lines: the context's, then the candidates' lines.
    for (String context; (context = input.readLine()) != null; ) {
      if (context.isEmpty()) continue;
      StringBuilder candidates = new StringBuilder();
      int count = 0;
      for (String line; (line = input.readLine()) != null && !line.isEmpty(); ++count) {
        candidates.append(line).append('\n');
      }
      score(predictor.getValue(), context, candidates, count);
    }
    LIBRARY.leveret_predictor_free(predictor.getValue());
    LIBRARY.leveret_model_close(model.getValue());
  }
}
