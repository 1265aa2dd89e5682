; Made by llvm_from_c.py from sources with the digest 4d4cacfdee563d46660f54fc9ceeb9e0
; with ziglang 0.17.1

%struct.anon = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, i64, [32 x i8], i64, [56 x i8], i64, [56 x i8], [256 x %struct.worker] }
%struct.worker = type { i64, ptr, [48 x i8] }

@pool = internal global %struct.anon zeroinitializer, align 64

define ptr @thread_pool() nounwind {
  ret ptr @pool
}

define void @forget_threads() nounwind {
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), align 64
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), align 64
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  ret void
}

define i64 @with_limit(ptr %0, ptr %1) {
  %3 = getelementptr inbounds i8, ptr %1, i64 -8
  %4 = load ptr, ptr %3, align 8
  %5 = ptrtoint ptr %4 to i64
  %6 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  %7 = icmp eq ptr %6, null
  br i1 %7, label %36, label %8

8:
  %9 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), i64 1 acquire, align 16
  %10 = icmp eq i64 %9, 0
  br i1 %10, label %11, label %8

11:
  %12 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  %13 = tail call i32 %12()
  %14 = sext i32 %13 to i64
  %15 = icmp eq ptr %4, null
  %16 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  br i1 %15, label %23, label %17

17:
  %18 = add i64 %16, 1
  store i64 %18, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %19 = icmp eq i64 %16, 0
  br i1 %19, label %20, label %21

20:
  store i64 %14, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  br label %21

21:
  %22 = icmp slt i64 %5, %14
  br i1 %22, label %31, label %35

23:
  %24 = icmp sgt i64 %16, 0
  br i1 %24, label %25, label %35

25:
  %26 = add nsw i64 %16, -1
  store i64 %26, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %27 = icmp ne i64 %26, 0
  %28 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  %29 = icmp eq i64 %28, %14
  %30 = select i1 %27, i1 true, i1 %29
  br i1 %30, label %35, label %31

31:
  %32 = phi i64 [ %5, %21 ], [ %28, %25 ]
  %33 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %34 = trunc i64 %32 to i32
  tail call void %33(i32 %34)
  br label %35

35:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176) release, align 16
  br label %36

36:
  %37 = getelementptr inbounds i8, ptr %1, i64 -16
  %38 = load ptr, ptr %37, align 8
  %39 = tail call i64 %38(ptr %0, ptr %1)
  %40 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  %41 = icmp eq ptr %40, null
  br i1 %41, label %61, label %42

42:
  %43 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), i64 1 acquire, align 16
  %44 = icmp eq i64 %43, 0
  br i1 %44, label %45, label %42

45:
  %46 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  %47 = tail call i32 %46()
  %48 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %49 = icmp sgt i64 %48, 0
  br i1 %49, label %50, label %60

50:
  %51 = sext i32 %47 to i64
  %52 = add nsw i64 %48, -1
  store i64 %52, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %53 = icmp ne i64 %52, 0
  %54 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  %55 = icmp eq i64 %54, %51
  %56 = select i1 %53, i1 true, i1 %55
  br i1 %56, label %60, label %57

57:
  %58 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %59 = trunc i64 %54 to i32
  tail call void %58(i32 %59)
  br label %60

60:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176) release, align 16
  br label %61

61:
  ret i64 %39
}

define i64 @parallel(ptr %0, ptr %1, i64 %2, i64 %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8, ptr %9) {
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 16
  %12 = load ptr, ptr %11, align 8
  %13 = icmp eq i64 %8, 0
  %14 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %15 = select i1 %13, i64 %14, i64 %8
  %16 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 72), align 8
  %17 = icmp eq i64 %16, 0
  %18 = tail call i64 @llvm.smin.i64(i64 %15, i64 %16)
  %19 = select i1 %17, i64 %15, i64 %18
  %20 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 80), align 16
  %21 = mul i64 %20, 3
  %22 = icmp sgt i64 %6, %21
  %23 = tail call i64 @llvm.smin.i64(i64 %19, i64 256)
  %24 = select i1 %22, i64 %23, i64 1
  %25 = sdiv i64 %6, %20
  %26 = add i64 %25, 1
  %27 = tail call i64 @llvm.smin.i64(i64 %24, i64 %26)
  %28 = sub i64 %3, %2
  %29 = sitofp i64 %28 to double
  %30 = fmul double %29, 1.000000e+07
  %31 = add i64 %6, 1
  %32 = sitofp i64 %31 to double
  %33 = fdiv double %30, %32
  %34 = fptosi double %33 to i64
  %35 = tail call i64 @llvm.smin.i64(i64 %27, i64 %28)
  %36 = icmp eq ptr %9, null
  %37 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  %38 = icmp eq ptr %37, null
  %39 = select i1 %36, i1 true, i1 %38
  br i1 %39, label %56, label %40

40:
  %41 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), i64 1 acquire, align 16
  %42 = icmp eq i64 %41, 0
  br i1 %42, label %43, label %40

43:
  %44 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  %45 = tail call i32 %44()
  %46 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %47 = add i64 %46, 1
  store i64 %47, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %48 = icmp eq i64 %46, 0
  br i1 %48, label %49, label %51

49:
  %50 = sext i32 %45 to i64
  store i64 %50, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  br label %51

51:
  %52 = icmp sgt i32 %45, 1
  br i1 %52, label %53, label %55

53:
  %54 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  tail call void %54(i32 1)
  br label %55

55:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176) release, align 16
  br label %56

56:
  %57 = icmp sgt i64 %35, 1
  br i1 %57, label %59, label %58

58:
  br label %165

59:
  %60 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), i64 1 acquire, align 8
  %61 = icmp eq i64 %60, 0
  br i1 %61, label %62, label %58

62:
  %63 = tail call i64 @llvm.smax.i64(i64 %7, i64 %34)
  %64 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  %65 = icmp eq ptr %64, null
  br i1 %65, label %66, label %74

66:
  %67 = load ptr, ptr @pool, align 64
  %68 = tail call ptr %67()
  %69 = icmp eq ptr %68, null
  br i1 %69, label %70, label %71

70:
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  br label %105

71:
  %72 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %73 = tail call i32 %72(ptr %68, i32 1)
  store ptr %68, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  br label %74

74:
  %75 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %76 = add i64 %75, 1
  %77 = icmp slt i64 %76, %35
  br i1 %77, label %78, label %101

78:
  %79 = phi i64 [ %99, %96 ], [ %76, %74 ]
  %80 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %79
  store i64 0, ptr %80, align 64
  %81 = load ptr, ptr @pool, align 64
  %82 = tail call ptr %81()
  %83 = icmp eq ptr %82, null
  br i1 %83, label %84, label %86

84:
  %85 = getelementptr inbounds nuw i8, ptr %80, i64 8
  store ptr null, ptr %85, align 8
  br label %101

86:
  %87 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %88 = tail call i32 %87(ptr %82, i32 1)
  %89 = getelementptr inbounds nuw i8, ptr %80, i64 8
  store ptr %82, ptr %89, align 8
  %90 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 24), align 8
  %91 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %92 = add i64 %91, 1
  %93 = inttoptr i64 %92 to ptr
  %94 = tail call i64 %90(ptr @run_worker, ptr %93)
  %95 = icmp eq i64 %94, -1
  br i1 %95, label %101, label %96

96:
  %97 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %98 = add i64 %97, 1
  store i64 %98, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %99 = add i64 %97, 2
  %100 = icmp slt i64 %99, %35
  br i1 %100, label %78, label %101

101:
  %102 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %103 = add i64 %102, 1
  %104 = tail call i64 @llvm.smin.i64(i64 %103, i64 %35)
  br label %105

105:
  %106 = phi i64 [ %104, %101 ], [ 1, %70 ]
  %107 = shl i64 %106, 2
  %108 = sdiv i64 %28, %107
  %109 = add i64 %108, 1
  %110 = tail call i64 @llvm.smin.i64(i64 %109, i64 %63)
  %111 = icmp sgt i64 %110, 255
  %112 = add nuw i64 %110, 63
  %113 = and i64 %112, -64
  %114 = select i1 %111, i64 %113, i64 %110
  %115 = add i64 %28, -1
  %116 = add i64 %115, %114
  %117 = sdiv i64 %116, %114
  store ptr %0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  store ptr %1, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  store i64 %2, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), align 8
  store i64 %3, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  store ptr %4, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 144), align 16
  store i64 %114, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  store ptr %9, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 152), align 8
  store i64 9223372036854775807, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), align 8
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160), align 32
  %118 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  %119 = add i64 %118, 1
  store i64 %119, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  store atomic i64 %106, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %120 = shl i64 %117, 1
  store atomic i64 %120, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) monotonic, align 64
  store atomic i64 %117, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %121 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %122 = icmp sgt i64 %121, 1
  br i1 %122, label %123, label %138

123:
  %124 = icmp eq i64 %121, 2
  %125 = select i1 %124, i64 2, i64 3
  br label %126

126:
  %127 = phi i64 [ %136, %135 ], [ 1, %123 ]
  %128 = getelementptr inbounds nuw %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %127
  %129 = atomicrmw xchg ptr %128, i64 0 seq_cst, align 64
  %130 = icmp eq i64 %129, 0
  br i1 %130, label %135, label %131

131:
  %132 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %133 = getelementptr inbounds nuw i8, ptr %128, i64 8
  %134 = load ptr, ptr %133, align 8
  tail call void %132(ptr %134)
  br label %135

135:
  %136 = add nuw nsw i64 %127, 1
  %137 = icmp eq i64 %136, %125
  br i1 %137, label %138, label %126

138:
  %139 = load ptr, ptr %11, align 8
  tail call fastcc void @run_chunks(ptr %139, ptr %5, i64 %63)
  br label %143

140:
  %141 = add nuw nsw i64 %144, 1
  %142 = icmp eq i64 %141, 16384
  br i1 %142, label %147, label %143

143:
  %144 = phi i64 [ 0, %138 ], [ %141, %140 ]
  %145 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) acquire, align 64
  %146 = icmp eq i64 %145, 0
  br i1 %146, label %154, label %140

147:
  %148 = atomicrmw or ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 1 acq_rel, align 64
  %149 = icmp eq i64 %148, 0
  br i1 %149, label %154, label %150

150:
  %151 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %152 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  %153 = tail call i32 %151(ptr %152, i32 1)
  br label %154

154:
  %155 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160), align 32
  %156 = icmp eq i64 %155, 0
  br i1 %156, label %157, label %163

157:
  %158 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), align 8
  %159 = icmp eq i64 %158, 9223372036854775807
  %160 = shl i64 %158, 32
  %161 = ashr exact i64 %160, 32
  %162 = select i1 %159, i64 0, i64 %161
  br label %163

163:
  %164 = phi i64 [ %162, %157 ], [ -2, %154 ]
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104) release, align 8
  br label %176

165:
  %166 = phi i64 [ %167, %173 ], [ %2, %58 ]
  %167 = add i64 %166, %7
  %168 = tail call i64 @llvm.smin.i64(i64 %3, i64 %167)
  %169 = tail call i64 %0(ptr %1, i64 %166, i64 %168, ptr %4)
  %170 = icmp eq i64 %169, 0
  br i1 %170, label %171, label %176

171:
  %172 = icmp slt i64 %167, %3
  br i1 %172, label %173, label %176

173:
  %174 = tail call i64 %12(ptr %5)
  %175 = icmp eq i64 %174, 0
  br i1 %175, label %165, label %176

176:
  %177 = phi i64 [ %164, %163 ], [ -2, %173 ], [ 0, %171 ], [ %169, %165 ]
  %178 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  %179 = icmp eq ptr %178, null
  %180 = select i1 %36, i1 true, i1 %179
  br i1 %180, label %200, label %181

181:
  %182 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), i64 1 acquire, align 16
  %183 = icmp eq i64 %182, 0
  br i1 %183, label %184, label %181

184:
  %185 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  %186 = tail call i32 %185()
  %187 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %188 = icmp sgt i64 %187, 0
  br i1 %188, label %189, label %199

189:
  %190 = sext i32 %186 to i64
  %191 = add nsw i64 %187, -1
  store i64 %191, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %192 = icmp ne i64 %191, 0
  %193 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  %194 = icmp eq i64 %193, %190
  %195 = select i1 %192, i1 true, i1 %194
  br i1 %195, label %199, label %196

196:
  %197 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %198 = trunc i64 %193 to i32
  tail call void %197(i32 %198)
  br label %199

199:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176) release, align 16
  br label %200

200:
  ret i64 %177
}

define internal fastcc void @run_chunks(ptr %0, ptr %1, i64 %2) {
  %4 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) monotonic, align 64
  %5 = icmp sgt i64 %4, 0
  br i1 %5, label %6, label %177

6:
  %7 = icmp eq ptr %0, null
  br label %8

8:
  %9 = phi i64 [ 0, %6 ], [ %124, %174 ]
  %10 = phi i64 [ 0, %6 ], [ %168, %174 ]
  %11 = phi ptr [ null, %6 ], [ %123, %174 ]
  %12 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 1 acquire, align 64
  %13 = add i64 %12, -1
  %14 = icmp slt i64 %13, 0
  br i1 %14, label %177, label %15

15:
  %16 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), align 8
  %17 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %18 = mul i64 %17, %13
  %19 = add i64 %18, %16
  %20 = add i64 %19, %17
  %21 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 152), align 8
  %22 = icmp eq ptr %21, null
  %23 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  %24 = icmp eq i64 %9, %23
  %25 = select i1 %22, i1 true, i1 %24
  br i1 %25, label %121, label %26

26:
  %27 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 40), align 8
  tail call void %27(ptr %11)
  %28 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 152), align 8
  %29 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  %30 = load i64, ptr %28, align 8
  %31 = add i64 %30, 128
  %32 = getelementptr inbounds nuw i8, ptr %28, i64 8
  %33 = load i64, ptr %32, align 8
  %34 = icmp sgt i64 %33, 0
  br i1 %34, label %35, label %46

35:
  %36 = phi i64 [ %44, %35 ], [ 0, %26 ]
  %37 = phi i64 [ %43, %35 ], [ %31, %26 ]
  %38 = getelementptr i64, ptr %28, i64 %36
  %39 = getelementptr i8, ptr %38, i64 16
  %40 = load i64, ptr %39, align 8
  %41 = add i64 %40, 127
  %42 = and i64 %41, -64
  %43 = add i64 %42, %37
  %44 = add nuw nsw i64 %36, 1
  %45 = icmp eq i64 %44, %33
  br i1 %45, label %46, label %35

46:
  %47 = phi i64 [ %31, %26 ], [ %43, %35 ]
  %48 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %49 = tail call ptr %48(i64 %47)
  %50 = icmp eq ptr %49, null
  br i1 %50, label %118, label %51

51:
  %52 = load i64, ptr %28, align 8
  %53 = sdiv i64 %52, 8
  %54 = icmp sgt i64 %52, 7
  br i1 %54, label %55, label %62

55:
  %56 = phi i64 [ %60, %55 ], [ 0, %51 ]
  %57 = getelementptr inbounds nuw i64, ptr %29, i64 %56
  %58 = load i64, ptr %57, align 8
  %59 = getelementptr inbounds nuw i64, ptr %49, i64 %56
  store i64 %58, ptr %59, align 8
  %60 = add nuw nsw i64 %56, 1
  %61 = icmp eq i64 %60, %53
  br i1 %61, label %62, label %55

62:
  %63 = and i64 %52, -8
  %64 = icmp eq i64 %63, %52
  br i1 %64, label %72, label %65

65:
  %66 = phi i64 [ %70, %65 ], [ %63, %62 ]
  %67 = getelementptr inbounds i8, ptr %29, i64 %66
  %68 = load i8, ptr %67, align 1
  %69 = getelementptr inbounds i8, ptr %49, i64 %66
  store i8 %68, ptr %69, align 1
  %70 = add nsw i64 %66, 1
  %71 = icmp slt i64 %70, %52
  br i1 %71, label %65, label %72

72:
  %73 = load i64, ptr %32, align 8
  %74 = icmp sgt i64 %73, 0
  br i1 %74, label %75, label %118

75:
  %76 = ptrtoint ptr %49 to i64
  %77 = add i64 %76, 63
  %78 = load i64, ptr %28, align 8
  %79 = add i64 %77, %78
  %80 = and i64 %79, -64
  br label %81

81:
  %82 = phi i64 [ %85, %111 ], [ 0, %75 ]
  %83 = phi i64 [ %115, %111 ], [ %80, %75 ]
  %84 = inttoptr i64 %83 to ptr
  %85 = add nuw nsw i64 %82, 1
  %86 = getelementptr inbounds nuw i64, ptr %49, i64 %85
  %87 = load i64, ptr %86, align 8
  %88 = inttoptr i64 %87 to ptr
  %89 = getelementptr i64, ptr %28, i64 %82
  %90 = getelementptr i8, ptr %89, i64 16
  %91 = load i64, ptr %90, align 8
  %92 = sdiv i64 %91, 8
  %93 = icmp sgt i64 %91, 7
  br i1 %93, label %94, label %101

94:
  %95 = phi i64 [ %99, %94 ], [ 0, %81 ]
  %96 = getelementptr inbounds nuw i64, ptr %88, i64 %95
  %97 = load i64, ptr %96, align 8
  %98 = getelementptr inbounds nuw i64, ptr %84, i64 %95
  store i64 %97, ptr %98, align 8
  %99 = add nuw nsw i64 %95, 1
  %100 = icmp eq i64 %99, %92
  br i1 %100, label %101, label %94

101:
  %102 = and i64 %91, -8
  %103 = icmp eq i64 %102, %91
  br i1 %103, label %111, label %104

104:
  %105 = phi i64 [ %109, %104 ], [ %102, %101 ]
  %106 = getelementptr inbounds i8, ptr %88, i64 %105
  %107 = load i8, ptr %106, align 1
  %108 = getelementptr inbounds i8, ptr %84, i64 %105
  store i8 %107, ptr %108, align 1
  %109 = add nsw i64 %105, 1
  %110 = icmp slt i64 %109, %91
  br i1 %110, label %104, label %111

111:
  store i64 %83, ptr %86, align 8
  %112 = load i64, ptr %90, align 8
  %113 = add i64 %112, 127
  %114 = and i64 %113, -64
  %115 = add i64 %114, %83
  %116 = load i64, ptr %32, align 8
  %117 = icmp slt i64 %85, %116
  br i1 %117, label %81, label %118

118:
  %119 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  %120 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 152), align 8
  br label %121

121:
  %122 = phi ptr [ %120, %118 ], [ %21, %15 ]
  %123 = phi ptr [ %49, %118 ], [ %11, %15 ]
  %124 = phi i64 [ %119, %118 ], [ %9, %15 ]
  %125 = icmp eq ptr %122, null
  %126 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  %127 = select i1 %125, ptr %126, ptr %123
  %128 = icmp eq ptr %127, null
  br i1 %128, label %136, label %129

129:
  %130 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  %131 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  %132 = tail call i64 @llvm.smin.i64(i64 %20, i64 %131)
  %133 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 144), align 16
  %134 = tail call i64 %130(ptr %127, i64 %19, i64 %132, ptr %133)
  %135 = icmp eq i64 %134, 0
  br i1 %135, label %149, label %136

136:
  %137 = phi i64 [ %134, %129 ], [ -1, %121 ]
  %138 = shl i64 %13, 32
  %139 = and i64 %137, 4294967295
  %140 = or disjoint i64 %139, %138
  %141 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168) monotonic, align 8
  br label %142

142:
  %143 = phi i64 [ %141, %136 ], [ %148, %145 ]
  %144 = icmp slt i64 %140, %143
  br i1 %144, label %145, label %149

145:
  %146 = cmpxchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), i64 %143, i64 %140 monotonic monotonic, align 8
  %147 = extractvalue { i64, i1 } %146, 1
  %148 = extractvalue { i64, i1 } %146, 0
  br i1 %147, label %149, label %142

149:
  br i1 %7, label %167, label %150

150:
  %151 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %152 = add i64 %151, %10
  %153 = icmp slt i64 %152, %2
  br i1 %153, label %167, label %154

154:
  %155 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) monotonic, align 64
  %156 = icmp sgt i64 %155, 0
  br i1 %156, label %157, label %167

157:
  %158 = tail call i64 %0(ptr %1)
  %159 = icmp eq i64 %158, 0
  br i1 %159, label %167, label %160

160:
  %161 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 0 acq_rel, align 64
  %162 = icmp sgt i64 %161, 0
  br i1 %162, label %163, label %166

163:
  %164 = shl nuw i64 %161, 1
  %165 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 %164 acq_rel, align 64
  br label %166

166:
  store i64 1, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160), align 32
  br label %167

167:
  %168 = phi i64 [ 0, %166 ], [ 0, %157 ], [ %152, %154 ], [ %152, %150 ], [ %10, %149 ]
  %169 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 2 acq_rel, align 64
  %170 = icmp eq i64 %169, 3
  br i1 %170, label %171, label %174

171:
  %172 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %173 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  tail call void %172(ptr %173)
  br label %174

174:
  %175 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) monotonic, align 64
  %176 = icmp sgt i64 %175, 0
  br i1 %176, label %8, label %177

177:
  %178 = phi ptr [ null, %3 ], [ %11, %8 ], [ %123, %174 ]
  %179 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 40), align 8
  tail call void %179(ptr %178)
  ret void
}

define internal void @run_worker(ptr %0) {
  %2 = ptrtoint ptr %0 to i64
  %3 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %2
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %5 = shl i64 %2, 1
  %6 = or disjoint i64 %5, 1
  %7 = add i64 %5, 2
  %8 = icmp ne i64 %5, 9223372036854775806
  br label %9

9:
  store atomic i64 1, ptr %3 seq_cst, align 64
  %10 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %11 = icmp sgt i64 %10, %2
  br i1 %11, label %12, label %18

12:
  %13 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %14 = icmp sgt i64 %13, 0
  br i1 %14, label %15, label %18

15:
  %16 = atomicrmw xchg ptr %3, i64 0 seq_cst, align 64
  %17 = icmp eq i64 %16, 0
  br i1 %17, label %18, label %22

18:
  %19 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %20 = load ptr, ptr %4, align 8
  %21 = tail call i32 %19(ptr %20, i32 1)
  br label %22

22:
  %23 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %24 = icmp sgt i64 %23, %2
  br i1 %24, label %25, label %47

25:
  %26 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %27 = icmp sgt i64 %26, 0
  br i1 %27, label %28, label %47

28:
  %29 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %30 = icmp slt i64 %6, %29
  %31 = select i1 %8, i1 %30, i1 false
  br i1 %31, label %32, label %46

32:
  %33 = phi i64 [ %42, %41 ], [ %6, %28 ]
  %34 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %33
  %35 = atomicrmw xchg ptr %34, i64 0 seq_cst, align 64
  %36 = icmp eq i64 %35, 0
  br i1 %36, label %41, label %37

37:
  %38 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %39 = getelementptr inbounds nuw i8, ptr %34, i64 8
  %40 = load ptr, ptr %39, align 8
  tail call void %38(ptr %40)
  br label %41

41:
  %42 = add nsw i64 %33, 1
  %43 = icmp slt i64 %33, %7
  %44 = icmp slt i64 %42, %29
  %45 = select i1 %43, i1 %44, i1 false
  br i1 %45, label %32, label %46

46:
  tail call fastcc void @run_chunks(ptr null, ptr null, i64 0)
  br label %47

47:
  br label %9
}

declare i64 @llvm.smax.i64(i64, i64)

declare i64 @llvm.smin.i64(i64, i64)

